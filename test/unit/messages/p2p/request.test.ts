import { describe, expect, it } from 'vitest'
import { testall, testany, waitall, waitany, waitsome } from '../../../../src/messages/p2p/request.js'
import { onRanks } from '../../../support/on-ranks.js'
import { codeOf, drained, openWorld, type TestWorldOptions, waitsOf } from './point-to-point-world.js'

const layouts: readonly Partial<TestWorldOptions>[] = [
  { processes: 1 },
  { processes: 2 },
  { processes: 2, bulk: false, maxPayloadBytes: 64, seed: 4 },
]

/** Two ranks, rendezvous for everything. */
const pair = async (options: Partial<TestWorldOptions> = {}) => {
  const world = await openWorld({ ranks: 2, eagerLimitBytes: 0, ...options })
  return { world, a: world.comms[0], b: world.comms[1] }
}

describe.each(layouts)('on %o', (options) => {
  it('a request can be tested and waited for repeatedly', async () => {
    const { world, a, b } = await pair(options)
    const receive = b.irecv<Int8Array>(0, 1)
    expect(await receive.test()).toEqual({ done: false })
    const early = receive.wait()
    const send = a.isend(Int8Array.of(7), 1, 1)
    const message = await receive.wait()
    expect(message.data).toEqual(Int8Array.of(7))
    expect(await early).toBe(message)
    expect(await receive.test()).toEqual({ done: true, value: message })
    expect(await receive.wait()).toBe(message)
    await send.wait()
    receive.cancel()
    send.cancel()
    expect(await send.test()).toEqual({ done: true, value: undefined })
    await world.session.close()
  })

  it('a cancelled send is taken back, or completes if it was matched', async () => {
    const { world, a, b } = await pair(options)
    for (const start of ['isend', 'issend'] as const) {
      const taken = a[start](new Int8Array(300).fill(1), 1, 1)
      const kept = a[start](new Int8Array(300).fill(2), 1, 1)
      taken.cancel()
      taken.cancel()
      expect(await codeOf(taken.wait())).toBe('ERR_ABORTED')
      expect((await b.recv(0, 1)).data).toEqual(new Int8Array(300).fill(2))
      await kept.wait()
      const matched = a[start](new Int8Array(300).fill(3), 1, 1)
      const message = await b.mprobe(0, 1)
      matched.cancel()
      await drained(world)
      expect(matched.pending.settled).toBe(false)
      expect((await message.recv()).data).toEqual(new Int8Array(300).fill(3))
      await matched.wait()
      expect(await b.iprobe()).toBeNull()
    }
    await world.session.close()
  })

  it('cancel does not take back buffered data', async () => {
    const { world, a, b } = await pair({ ...options, eagerLimitBytes: 1000 })
    const send = a.isend('x', 1)
    send.cancel()
    await send.wait()
    expect((await b.recv()).data).toBe('x')
    await world.session.close()
  })

  it('the signal of an operation cancels it', async () => {
    const { world, a, b } = await pair(options)
    const { signal, abort } = controller()
    const waiting = [
      b.recv(0, 1, { signal }),
      b.probe(0, 1, { signal }),
      b.mprobe(0, 1, { signal }),
      b.irecv(0, 1, { signal }).wait(),
      a.send(new Int8Array(300), 1, 2, { signal }),
      a.ssend(null, 1, 2, { signal }),
      a.isend(new Int8Array(300), 1, 2, { signal }).wait(),
      a.sendrecv(new Int8Array(300), 1, 1, { signal, sendTag: 2 }),
    ].map((promise) => (promise as Promise<unknown>).catch((error) => error))
    await drained(world)
    expect(world.runtimes.reduce((sum, { waits }) => sum + waits.withSignal, 0)).toBe(9)
    abort('enough')
    for (const error of await Promise.all(waiting)) {
      expect(error).toMatchObject({ code: 'ERR_ABORTED', cause: 'enough' })
    }
    await drained(world)
    expect(await b.iprobe()).toBeNull()
    expect(waitsOf(world)).toBe(0)
    await world.session.close()
  })

  it('the signal of a wait ends only that wait', async () => {
    const { world, a, b } = await pair(options)
    const requests = [b.irecv(0, 1), b.irecv(0, 2)]
    const { signal, abort } = controller()
    const waiting = [
      requests[0].wait({ signal }),
      waitall(requests, { signal }),
      waitany(requests, { signal }),
      waitsome(requests, { signal }),
    ].map((promise) => codeOf(promise))
    expect(world.runtimes.at(-1)!.waits.withSignal).toBeGreaterThanOrEqual(waiting.length)
    abort()
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => 'ERR_ABORTED'))
    expect(world.runtimes.at(-1)!.waits.waits).toBe(0)
    for (const wait of [
      requests[0].wait({ signal }),
      waitall(requests, { signal }),
      waitany(requests, { signal }),
    ]) {
      expect(await codeOf(wait)).toBe('ERR_ABORTED')
    }
    await Promise.all([a.send('one', 1, 1), a.send('two', 1, 2)])
    expect((await waitall(requests)).map(({ data }) => data)).toEqual(['one', 'two'])
    expect((await requests[0].wait({ signal })).data).toBe('one')
    await world.session.close()
  })
})

describe('requests', () => {
  it('in an empty list: waitall resolves, tests are done, waitany rejects', async () => {
    expect(await waitall([])).toEqual([])
    expect(await testall([])).toEqual({ done: true, values: [] })
    expect(await testany([])).toEqual({ done: true, index: -1, value: undefined })
    expect(await codeOf(waitany([]))).toBe('ERR_REQUEST')
    expect(await codeOf(waitsome([]))).toBe('ERR_REQUEST')
  })

  it('in an invalid list, or with an invalid signal, are rejected and leave no rank blocked', async () => {
    const { world, b } = await pair()
    const request = b.irecv(0, 1)
    for (const list of [null, undefined, 5, [null], [request, {}], 'x'] as never[]) {
      for (const wait of [waitall, waitany, waitsome, testall, testany]) {
        expect(await codeOf(wait(list))).toBe('ERR_ARGUMENT')
      }
    }
    for (const signal of [5, {}, null] as never[]) {
      expect(await codeOf(request.wait({ signal }))).toBe('ERR_ARGUMENT')
      for (const wait of [waitall, waitany, waitsome]) {
        expect(await codeOf(wait([request], { signal }))).toBe('ERR_ARGUMENT')
      }
    }
    expect(waitsOf(world)).toBe(0)
    await world.session.close()
  })

  it('that fail make waitall and waitany reject and leave the others pending', async () => {
    const { world, a, b } = await pair()
    const short = b.irecv(0, 1, { into: new Int8Array(1) })
    const other = b.irecv<string>(0, 2)
    const all = codeOf(waitall([other, short]))
    const any = codeOf(waitany([other, short]))
    await a.send(new Int8Array(5), 1, 1)
    expect(await all).toBe('ERR_TRUNCATE')
    expect(await any).toBe('ERR_TRUNCATE')
    expect(await codeOf(waitall([other, short]))).toBe('ERR_TRUNCATE')
    expect(await codeOf(testall([short]))).toBe('ERR_TRUNCATE')
    expect(await codeOf(testany([other, short]))).toBe('ERR_TRUNCATE')
    expect(await codeOf(waitsome([other, short]))).toBe('ERR_TRUNCATE')
    await a.send('x', 1, 2)
    expect((await other.wait()).data).toBe('x')
    await world.session.close()
  })

  it('thousands of them, waited for in a loop, block their rank once per wait', async () => {
    const { world, a, b } = await pair()
    const left = Array.from({ length: 2000 }, (_, tag) => b.irecv<number>(0, tag))
    const { owner } = left[0].pending
    let blocks = 0
    const block = owner.block.bind(owner)
    owner.block = (hasSignal) => {
      blocks++
      block(hasSignal)
    }
    for (let waits = 1; left.length > 0; waits++) {
      const { signal, abort } = controller()
      const aborted = codeOf(waitall(left, { signal }))
      abort()
      expect(await aborted).toBe('ERR_ABORTED')
      expect(left.at(-1)!.pending.awaited).toBe(false)
      const any = waits % 2 === 0 ? waitany(left) : waitsome(left).then(([first]) => first)
      await a.send(Int8Array.of(1), 1, left.length - 1)
      expect((await any).index).toBe(left.length - 1)
      left.pop()
      expect(blocks).toBe(2 * waits)
    }
    await world.session.close()
  })

  it('that no rank waits for cause no unhandled rejection when they fail', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    for (const processes of [1, 2]) {
      await onRanks({ ranks: 2, processes }, async (world) => {
        const request = world.irecv(0, 1)
        const short = world.irecv(0, 2, { into: new Int8Array(0) })
        request.cancel()
        await world.send(new Int8Array(3), world.rank === 0 ? 1 : 0, 2)
        void short
      })
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('share one signal, hundreds of them, without a warning', async () => {
    const warnings: string[] = []
    const note = (warning: Error) => warnings.push(warning.name)
    process.on('warning', note)
    const { world, b } = await pair()
    const { signal, abort } = controller()
    const waiting = Array.from({ length: 200 }, (_, tag) => codeOf(b.recv(0, tag, { signal })))
    abort()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['ERR_ABORTED']))
    await new Promise((resolve) => setTimeout(resolve, 5))
    process.off('warning', note)
    expect(warnings).toEqual([])
    await world.session.close()
  })
})

function controller() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason?: unknown) => controller.abort(reason) }
}
