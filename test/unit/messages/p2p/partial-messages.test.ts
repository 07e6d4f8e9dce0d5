import { RankweaveError, strided } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { envelopeChargeBytes } from '../../../../src/messages/process/credit.js'
import { codeOf, drained, openWorld, type TestWorldOptions } from './point-to-point-world.js'

/** A world of two ranks in which an eager message of three frames has arrived but for the last one. */
async function partlyArrived() {
  const world = await openWorld({
    ranks: 2,
    processes: 2,
    maxPayloadBytes: 24,
    faults: { delay: (src, _, n) => (src === 0 && n === 2 ? 200 : 0) },
  })
  const [a, b] = world.comms
  const sent = a.isend(new Int8Array(60), 1, 5)
  while ((await b.iprobe(0, 5)) === null);
  expect(world.session.quiet()).toBe(false)
  return { world, sent, b: b }
}

describe('an eager message that has arrived in part', () => {
  const error = new RankweaveError('ERR_REVOKED', 'revoked')

  const states = ['queued', 'matched', 'extracted'] as const
  it.each(states.flatMap((state) => [[state, 'fails'] as const, [state, 'is freed'] as const]))(
    'returns its charge once when, while it is %s, its communicator %s',
    async (state, end) => {
      const { world, sent, b } = await partlyArrived()
      const receive = state === 'matched' ? codeOf(b.recv<Int8Array>(0, 5)) : undefined
      const message = state === 'extracted' ? await b.mprobe(0, 5) : undefined
      if (end === 'fails') world.states[1].fail(error)
      else await Promise.all(world.states.map(({ matching }) => matching.close()))
      await sent.wait()
      await drained(world)
      const [received, taken] = end === 'fails' ? ['ERR_REVOKED', 'ERR_REVOKED'] : ['none', 'ERR_COMM_FREED']
      if (receive !== undefined) expect(await receive).toBe(received)
      if (message !== undefined) expect(await codeOf(message.recv())).toBe(taken)
      expect(world.session.quiet()).toBe(true)
      expect(world.runtimes[0].credit.outstanding(1).inFlightBytes).toBe(60 + envelopeChargeBytes)
      expect(world.runtimes[1].credit.outstanding(0).owedBytes).toBe(60 + envelopeChargeBytes)
      await world.session.close()
    },
  )
})

describe('an eager message in parts whose receive was posted before', () => {
  const parts = { ranks: 2, processes: 2, maxPayloadBytes: 24 }

  it('no longer writes the buffer once the receive was given up', async () => {
    const world = await openWorld({
      ...parts,
      faults: { delay: (src, _, n) => (src === 0 && n === 2 ? 200 : 0) },
    })
    const [a, b] = world.comms
    const into = new Int8Array(60)
    const abort = new AbortController()
    const received = codeOf(b.recv(0, 5, { into, signal: abort.signal }))
    const sent = a.isend(new Int8Array(60).fill(1), 1, 5)
    while (into[24] === 0) await new Promise(setImmediate)
    abort.abort()
    expect(await received).toBe('ERR_ABORTED')
    into.fill(9)
    await sent.wait()
    await drained(world)
    expect(into).toEqual(new Int8Array(60).fill(9))
    expect(world.runtimes[1].credit.outstanding(0).owedBytes).toBe(60 + envelopeChargeBytes)
    await world.session.close()
  })

  it('fails a receive whose buffer is detached meanwhile, and arrives into a strided view', async () => {
    const world = await openWorld(parts)
    const [a, b] = world.comms
    const into = new Int8Array(60)
    const received = b.irecv(0, 5, { into })
    const every = strided(new Int16Array(90), { count: 30, blockLength: 1, stride: 3 })
    const spread = b.irecv(0, 6, { into: every })
    structuredClone(into, { transfer: [into.buffer] })
    await a.send(new Int8Array(60), 1, 5)
    await a.send(
      Int16Array.from({ length: 30 }, (_, i) => i),
      1,
      6,
    )
    expect(await codeOf(received.wait())).toBe('ERR_TYPE')
    await spread.wait()
    expect(every.array.filter((_, i) => i % 3 === 0)).toEqual(Int16Array.from({ length: 30 }, (_, i) => i))
    await world.session.close()
  })
})

describe('a message past the eager limit that finds room', () => {
  async function openAhead(roomBytes: number, options: Partial<TestWorldOptions> = {}) {
    const world = await openWorld({
      ...{ ranks: 2, processes: 2, maxPayloadBytes: 24, eagerLimitBytes: 50, sendsAhead: true },
      ...options,
    })
    for (const { fabric } of world.runtimes) Object.assign(fabric, { roomFor: () => roomBytes })
    return { world, a: world.comms[0], b: world.comms[1] }
  }

  /** Frames of the sender and of the receiver for one message of 60 bytes that is sent before its receive. */
  async function framesOf({ world, a, b }: Awaited<ReturnType<typeof openAhead>>) {
    const data = Int8Array.from({ length: 60 }, (_, i) => i)
    const sent = a.isend(data, 1, 5)
    await drained(world)
    expect(sent.pending.settled).toBe(false)
    expect((await b.recv<Int8Array>(0, 5)).data).toEqual(data)
    await sent.wait()
    const frames = world.runtimes.map(({ processCounters }) => processCounters.framesSent)
    await world.session.close()
    return frames
  }

  it('leaves at once, and its send completes when a receive has taken it', async () => {
    expect(await framesOf(await openAhead(60))).toEqual([3, 1])
  })

  it('waits for its receiver without room, without credit and where the limit was set', async () => {
    const asked = [1, 1]
    expect(await framesOf(await openAhead(59))).toEqual(asked)
    expect(await framesOf(await openAhead(60, { creditBytes: 240 }))).toEqual(asked)
    expect(await framesOf(await openAhead(60, { creditBytes: 248 }))).toEqual([3, 2])
    expect(await framesOf(await openAhead(60, { sendsAhead: false }))).toEqual(asked)
  })

  it('can be taken back, and returns its charge', async () => {
    const { world, a, b } = await openAhead(60)
    const sent = a.isend(new Int8Array(60), 1, 5)
    sent.cancel()
    expect(await codeOf(sent.wait())).toBe('ERR_ABORTED')
    expect(await b.iprobe(0, 5)).toBeNull()
    expect(world.runtimes[1].credit.outstanding(0).owedBytes).toBe(60 + envelopeChargeBytes)
    await world.session.close()
  })
})
