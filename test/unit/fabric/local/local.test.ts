import { describe, expect, it } from 'vitest'
import { local } from '../../../../src/fabric/local/local.js'

const loop = () => new Promise((resolve) => setImmediate(resolve))

/** Attaches recorders to all processes: `[receiver, src, first header word]` in order of delivery. */
function record(session: Awaited<ReturnType<ReturnType<typeof local>['open']>>) {
  const log: [number, number, number][] = []
  const lost: [number, number, string][] = []
  for (const fabric of session.hosted) {
    fabric.attach({
      frame: (src, header) => void log.push([fabric.process, src, header[0]]),
      peerLost: (peer, reason) => void lost.push([fabric.process, peer, reason]),
    })
  }
  return { log, lost }
}

async function settle(session: Awaited<ReturnType<ReturnType<typeof local>['open']>>): Promise<void> {
  while (!session.quiet()) await loop()
}

async function deliveryOrder(seed: number | undefined): Promise<string> {
  const session = await local({ processes: 4, ...(seed === undefined ? {} : { seed }) }).open()
  const { log } = record(session)
  for (let n = 0; n < 5; n++) {
    for (const fabric of session.hosted) {
      for (let peer = 0; peer < 4; peer++) fabric.send(peer, Int32Array.of(n))
    }
  }
  await settle(session)
  await session.close()
  return JSON.stringify(log)
}

describe('local', () => {
  it('delivers in the order of sending without a seed, in a reproducible other order with one', async () => {
    const plain = JSON.parse(await deliveryOrder(undefined)) as number[][]
    const sent = Array.from({ length: 80 }, (_, i) => [i % 4, Math.floor(i / 4) % 4, Math.floor(i / 16)])
    expect(plain).toEqual(sent)
    expect(await deliveryOrder(7)).toBe(await deliveryOrder(7))
    expect(await deliveryOrder(7)).not.toBe(await deliveryOrder(8))
    expect(await deliveryOrder(7)).not.toBe(JSON.stringify(sent))
  })

  it('distributes processes over nodes in blocks, also uneven ones, or by label', async () => {
    const nodes = async (options: Parameters<typeof local>[0]) => {
      const session = await local(options).open()
      await session.close()
      return session.nodes
    }
    expect(await nodes({ processes: 5, nodes: 2 })).toEqual(['node0', 'node0', 'node0', 'node1', 'node1'])
    expect(await nodes({ nodes: ['a', 'b', 'a'] })).toEqual(['a', 'b', 'a'])
    expect(await nodes({ ranksPerProcess: [1, 0] })).toEqual(['node0', 'node0'])
    expect(await nodes({})).toEqual(['node0'])
  })

  it('rejects numbers that are out of range or do not agree', () => {
    for (const options of [
      { processes: 0 },
      { processes: 1.5 },
      { processes: 3, nodes: 4 },
      { processes: 3, nodes: 0 },
      { processes: 3, nodes: ['a'] },
      { processes: 3, ranksPerProcess: [1, 2] },
      { maxPayloadBytes: 0 },
      { seed: 0.5 },
    ]) {
      expect(() => local(options), JSON.stringify(options)).toThrowError(
        expect.objectContaining({ code: 'ERR_WORLD' }),
      )
    }
  })

  it('rejects malformed faults', () => {
    for (const options of [null, 5] as never[]) {
      expect(() => local(options)).toThrowError(expect.objectContaining({ code: 'ERR_ARGUMENT' }))
    }
    for (const faults of [
      null,
      5,
      { lose: Number.NaN },
      { lose: 2 },
      { lose: 'x' },
      { delay: -5 },
      { delay: 0.5 },
      { kill: 1 },
      { kill: [{ process: 2, afterFrames: 0 }] },
      { kill: [{ process: 0, afterFrames: Number.NaN }] },
    ] as never[]) {
      expect(() => local({ processes: 2, faults }), JSON.stringify(faults)).toThrowError(
        expect.objectContaining({ code: 'ERR_ARGUMENT' }),
      )
    }
  })

  it('delivers frames by poll before the task, each once', async () => {
    const session = await local({ processes: 2, seed: 5 }).open()
    const { log } = record(session)
    session.hosted[0].send(1, Int32Array.of(1))
    session.hosted[0].send(0, Int32Array.of(2))
    expect(session.hosted[1].poll()).toBe(true)
    expect(log).toEqual([[1, 0, 1]])
    expect(session.hosted[1].poll()).toBe(false)
    session.hosted[0].send(1, Int32Array.of(3))
    await settle(session)
    expect(log.map(([, , n]) => n).sort()).toEqual([1, 2, 3])
    await session.close()
  })

  it('overwrites lent memory with scribble', async () => {
    const session = await local({ scribble: true }).open()
    const kept: Uint8Array[] = []
    session.hosted[0].attach({
      frame: (_src, _header, payload) => void kept.push(payload),
      peerLost: () => {},
    })
    session.hosted[0].send(0, Int32Array.of(1), Uint8Array.of(1, 2))
    await settle(session)
    expect(kept).toEqual([Uint8Array.of(0x5d, 0x5d)])
    await session.close()
  })
})

describe('faults', () => {
  it('lose the frames they name, never those of a process to itself', async () => {
    const session = await local({ processes: 2, faults: { lose: (_src, _dst, n) => n === 1 } }).open()
    const { log } = record(session)
    for (let n = 0; n < 3; n++) {
      session.hosted[0].send(1, Int32Array.of(n))
      session.hosted[0].send(0, Int32Array.of(n))
    }
    await settle(session)
    expect(log.filter(([to]) => to === 1).map(([, , n]) => n)).toEqual([0, 2])
    expect(log.filter(([to]) => to === 0).map(([, , n]) => n)).toEqual([0, 1, 2])
    expect(session.hosted[0].counters.framesSent).toBe(6)
    await session.close()
  })

  it('lose with a probability, the same frames for the same seed', async () => {
    const survivors = async (seed: number) => {
      const session = await local({ processes: 2, seed, faults: { lose: 0.5 } }).open()
      const { log } = record(session)
      for (let n = 0; n < 200; n++) session.hosted[0].send(1, Int32Array.of(n))
      await settle(session)
      await session.close()
      return log.map(([, , n]) => n)
    }
    const some = await survivors(3)
    expect(some.length).toBeGreaterThan(50)
    expect(some.length).toBeLessThan(150)
    expect(some).toEqual([...some].sort((a, b) => a - b))
    expect(await survivors(3)).toEqual(some)
  })

  it('delay a pair behind the others and keep its order', async () => {
    const delay = (src: number, _dst: number, n: number) => (src === 0 && n === 0 ? 3 : 0)
    const session = await local({ processes: 3, faults: { delay } }).open()
    const { log } = record(session)
    for (const n of [1, 2]) {
      session.hosted[0].send(2, Int32Array.of(n))
      session.hosted[1].send(2, Int32Array.of(n))
    }
    await settle(session)
    expect(log).toEqual([
      [2, 1, 1],
      [2, 1, 2],
      [2, 0, 1],
      [2, 0, 2],
    ])
    await session.close()
  })

  it('kill a process: its frames are lost, the loss is reported once to every process that lives and to itself, later sends are dropped', async () => {
    const session = await local({
      processes: 3,
      faults: { kill: [{ process: 1, afterFrames: 2 }] },
    }).open()
    const { log, lost } = record(session)
    session.hosted[1].send(0, Int32Array.of(1))
    await settle(session)
    session.hosted[1].send(0, Int32Array.of(2))
    session.hosted[2].send(1, Int32Array.of(3))
    session.hosted[2].send(0, Int32Array.of(4))
    session.kill(1)
    expect(session.quiet()).toBe(false)
    await settle(session)
    expect(log).toEqual([
      [0, 1, 1],
      [0, 2, 4],
    ])
    expect(lost).toEqual([
      [0, 1, 'killed'],
      [1, 1, 'killed'],
      [2, 1, 'killed'],
    ])
    session.kill(0)
    await settle(session)
    expect(lost.slice(3)).toEqual([
      [0, 0, 'killed'],
      [2, 0, 'killed'],
    ])
    await session.close()
  })

  it('kill fails bulk transfers with the process, before and after', async () => {
    const session = await local({ processes: 2 }).open()
    record(session)
    const pending = session.hosted[0].bulk!.receive(1, 1, new Uint8Array(4))
    session.kill(1)
    await expect(pending).rejects.toMatchObject({ code: 'ERR_PEER_LOST' })
    await expect(session.hosted[0].bulk!.send(1, 2, new Uint8Array(4))).rejects.toMatchObject({
      code: 'ERR_PEER_LOST',
    })
    await session.close()
  })
})

describe('bulk', () => {
  it('rejects lengths that differ, and a second sender of one transfer', async () => {
    const session = await local({ processes: 2 }).open()
    record(session)
    const [a, b] = session.hosted
    const sent = a.bulk!.send(1, 1, new Uint8Array(4))
    const again = a.bulk!.send(1, 1, new Uint8Array(4))
    await expect(again).rejects.toMatchObject({ code: 'ERR_FABRIC' })
    const received = b.bulk!.receive(0, 1, new Uint8Array(5))
    await expect(sent).rejects.toMatchObject({ code: 'ERR_FABRIC' })
    await expect(received).rejects.toMatchObject({ code: 'ERR_FABRIC' })
    await session.close()
  })

  it('is absent when disabled', async () => {
    const session = await local({ bulk: false }).open()
    expect(session.hosted[0].bulk).toBeUndefined()
    await session.close()
  })
})
