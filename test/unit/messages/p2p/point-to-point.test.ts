import { type Communicator, type Message, type Sendable, strided } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { ANY_TAG, maxTag, PROC_NULL } from '../../../../src/messages/mailboxes/envelope.js'
import { elementTypes, marked } from './point-to-point-payloads.js'
import {
  codeOf,
  drained,
  onEveryRank,
  openWorld,
  type TestWorldOptions,
  thrownCode,
} from './point-to-point-world.js'

const rankCounts = [1, 2, 3, 4, 7, 8, 16]

/** Every way for data to travel: eager or rendezvous, whole or in pieces, by bulk or by frames. */
const ways: readonly { readonly name: string; readonly options: Omit<TestWorldOptions, 'ranks'> }[] = [
  { name: '1 process', options: {} },
  { name: '1 process, rendezvous', options: { eagerLimitBytes: 0 } },
  { name: '2 processes', options: { processes: 2 } },
  { name: '2 processes, rendezvous by bulk', options: { processes: 2, eagerLimitBytes: 0 } },
  {
    name: '5 processes, rendezvous by frames',
    options: { processes: 5, eagerLimitBytes: 0, bulk: false, seed: 1 },
  },
  {
    name: '5 processes, pieces of 24 bytes, little credit',
    options: { processes: 5, maxPayloadBytes: 24, creditBytes: 256, bulk: false, seed: 2 },
  },
  {
    name: '5 processes, eager in pieces',
    options: { processes: 5, maxPayloadBytes: 40, eagerLimitBytes: 1e6, seed: 3 },
  },
]

const right = (comm: Communicator) => (comm.rank + 1) % comm.size
const left = (comm: Communicator) => (comm.rank + comm.size - 1) % comm.size

describe.each(ways)('$name', ({ options }) => {
  it('sends every element type, also empty, into fresh and given arrays around rings', async () => {
    for (const ranks of rankCounts) {
      await onEveryRank({ ranks, ...options }, async (comm) => {
        const [to, from] = [right(comm), left(comm)]
        for (const type of elementTypes) {
          for (const countElems of [0, 1, 33]) {
            const send = comm.isend(marked(type, countElems, comm.rank, to, 1), to, 3)
            const fresh = await comm.recv(from, 3)
            expect(fresh).toEqual({
              source: from,
              tag: 3,
              count: countElems,
              sizeBytes: countElems * marked(type, 1, 0, 0, 0).BYTES_PER_ELEMENT,
              data: marked(type, countElems, from, comm.rank, 1),
            })
            await send.wait()
            const into = marked(type, countElems + 2, 9, 9, 9)
            const sends = comm.isend(marked(type, countElems, comm.rank, to, 2), to)
            const message = await comm.recv(from, 0, { into })
            await sends.wait()
            expect(message.data).toBe(into)
            expect(into.subarray(0, countElems)).toEqual(marked(type, countElems, from, comm.rank, 2))
            expect(into.subarray(countElems)).toEqual(
              marked(type, countElems + 2, 9, 9, 9).subarray(countElems),
            )
          }
        }
      })
    }
  })

  it('reads the data before the send completes', async () => {
    await onEveryRank({ ranks: 2, ...options }, async (comm) => {
      for (const countElems of [1, 10, 1000]) {
        if (comm.rank === 0) {
          const data = marked('Float64Array', countElems, 0, 1, 0)
          await comm.send(data, 1)
          data.fill(-1 as never)
        } else {
          await comm.iprobe()
          const { data } = await comm.recv(0)
          expect(data).toEqual(marked('Float64Array', countElems, 0, 1, 0))
        }
        await comm.sendrecv(null, 1 - comm.rank, 1 - comm.rank)
      }
    })
  })

  it('fails a receive that is too small or of another type, consumes the message, and leaves the buffer unchanged', async () => {
    await onEveryRank({ ranks: 2, ...options }, async (comm) => {
      if (comm.rank === 0) {
        for (const mode of ['send', 'ssend'] as const) {
          await comm[mode](marked('Float64Array', 20, 0, 1, 0), 1)
          await comm[mode](marked('Float64Array', 20, 0, 1, 1), 1)
          await comm[mode]({ some: 'value', text: 'x'.repeat(200) }, 1)
        }
        await comm.send('end', 1)
        return
      }
      for (let round = 0; round < 2; round++) {
        const small = Float64Array.of(7, 8, 9)
        expect(await codeOf(comm.recv(0, 0, { into: small }))).toBe('ERR_TRUNCATE')
        expect(small).toEqual(Float64Array.of(7, 8, 9))
        const other = new Float32Array(40).fill(5)
        expect(await codeOf(comm.recv(0, 0, { into: other }))).toBe('ERR_TYPE_MISMATCH')
        const bytes = new Uint8Array(1000)
        expect(await codeOf(comm.recv(0, 0, { into: bytes }))).toBe('ERR_TYPE_MISMATCH')
        expect(other.every((x) => x === 5) && bytes.every((x) => x === 0)).toBe(true)
      }
      expect((await comm.recv(0)).data).toBe('end')
    })
  })

  it('completes a synchronous send only after the match', async () => {
    for (const countElems of [0, 4, 500]) {
      const world = await openWorld({ ranks: 2, ...options })
      const [sender, receiver] = world.comms
      const send = sender.issend(marked('Int32Array', countElems, 0, 1, 0), 1, 4)
      await drained(world)
      expect(send.pending.settled).toBe(false)
      const matched = await receiver.mprobe(0, 4)
      await drained(world)
      expect(send.pending.settled).toBe(false)
      const { data } = await matched.recv()
      expect(data).toEqual(marked('Int32Array', countElems, 0, 1, 0))
      await send.wait()
      const receive = receiver.irecv()
      await sender.ssend(null, 1)
      await receive.wait()
      await world.session.close()
    }
  })

  it('a matched probe and a receive that complete together resolve in the order they were started', async () => {
    const world = await openWorld({ ranks: 2, ...options })
    const [sender, receiver] = world.comms
    const order: string[] = []
    const probing = receiver.mprobe(0, 1).then((matched) => {
      order.push('mprobe')
      return matched
    })
    const receiving = receiver.recv(0, 2).then(() => order.push('recv'))
    sender.isend(null, 1, 1)
    sender.isend(null, 1, 2)
    await Promise.all([probing, receiving])
    expect(order).toEqual(['mprobe', 'recv'])
    await (await probing).recv()
    await world.session.close()
  })

  it('counts messages and bytes per rank', async () => {
    const counted = await onEveryRank({ ranks: 4, ...options }, async (comm) => {
      const send = comm.isend(new Float64Array(10), right(comm))
      await comm.recv(left(comm), 0)
      await send.wait()
      await comm.sendrecv(new Int8Array(3), right(comm), left(comm))
      return { ...comm.counters.rank }
    })
    for (const counters of counted) {
      expect(counters).toMatchObject({
        messagesSent: 2,
        messagesReceived: 2,
        bytesSent: 83,
        bytesReceived: 83,
      })
    }
  })
})

describe('copies per message', () => {
  const copied = async (options: TestWorldOptions, posted: boolean, into: boolean) => {
    const world = await openWorld(options)
    const [sender, receiver] = world.comms
    const buffer = new Float64Array(1000)
    const start = () =>
      receiver.irecv(0, 0, into ? { into: buffer } : {}) as ReturnType<Communicator['irecv']>
    const early = posted ? start() : undefined
    const send = sender.isend(new Float64Array(1000).fill(1), 1)
    await drained(world)
    await (early ?? start()).wait()
    await send.wait()
    const bytes = world.runtimes.reduce((sum, { processCounters }) => sum + processCounters.bytesCopied, 0)
    const { messagesInProcess } = world.runtimes[0].processCounters
    await world.session.close()
    return { copies: bytes / 8000, messagesInProcess }
  }

  it('within a process: one, two for an unexpected eager message with a given buffer', async () => {
    for (const eagerLimitBytes of [0, 1e6]) {
      for (const posted of [false, true]) {
        for (const into of [false, true]) {
          const twice = eagerLimitBytes > 0 && !posted && into
          expect(await copied({ ranks: 2, eagerLimitBytes }, posted, into)).toEqual({
            copies: twice ? 2 : 1,
            messagesInProcess: 1,
          })
        }
      }
    }
  })

  it('between processes: one from the frame, none with bulk transfer', async () => {
    const between = { ranks: 2, processes: 2 }
    for (const into of [false, true]) {
      expect(await copied({ ...between, eagerLimitBytes: 1e6 }, true, into)).toEqual({
        copies: 1,
        messagesInProcess: 0,
      })
      expect(
        (await copied({ ...between, maxPayloadBytes: 800, eagerLimitBytes: 1e6 }, true, into)).copies,
      ).toBe(1)
      expect((await copied({ ...between, eagerLimitBytes: 0, bulk: false }, false, into)).copies).toBe(1)
      expect((await copied({ ...between, eagerLimitBytes: 0 }, false, into)).copies).toBe(0)
    }
  })
})

describe('PROC_NULL', () => {
  it('completes every send and receive at once, without data', async () => {
    const { comms, session } = await openWorld({ ranks: 1 })
    const [comm] = comms
    await comm.send(Float64Array.of(1), PROC_NULL)
    await comm.ssend('x', PROC_NULL)
    await comm.isend('x', PROC_NULL).wait()
    const nothing = { source: PROC_NULL, tag: ANY_TAG, count: 0, sizeBytes: 0 }
    expect(await comm.recv(PROC_NULL)).toEqual({ ...nothing, data: null })
    const into = Float64Array.of(5)
    const message: Message<Float64Array> = await comm.recv(PROC_NULL, 3, { into })
    expect(message).toEqual({ ...nothing, data: into })
    expect(message.data).toBe(into)
    expect(into[0]).toBe(5)
    expect(await comm.probe(PROC_NULL)).toEqual(nothing)
    expect(await comm.iprobe(PROC_NULL)).toEqual(nothing)
    expect(await (await comm.mprobe(PROC_NULL)).recv()).toEqual({ ...nothing, data: null })
    expect(await (await comm.improbe(PROC_NULL))!.recv()).toEqual({ ...nothing, data: null })
    expect(await comm.sendrecv('x', PROC_NULL, PROC_NULL)).toEqual({ ...nothing, data: null })
    expect(comm.counters.rank).toMatchObject({ messagesSent: 0, messagesReceived: 0 })
    await session.close()
  })
})

describe('point-to-point arguments', () => {
  it('are checked before anything is sent: promises reject, requests throw', async () => {
    const world = await openWorld({ ranks: 2, processes: 2 })
    const comm = world.comms[0]
    const aborted = { signal: AbortSignal.abort() }
    const sends: [code: string, data: unknown, dest: unknown, tag: unknown, options?: unknown][] = [
      ...[2, -1, -3, 0.5, Number.NaN, '0', null].map((dest) => ['ERR_RANK', 1, dest, 0] as never),
      ...[-1, -2, maxTag + 1, 0.5, '0', null].map((tag) => ['ERR_TAG', 1, 1, tag] as never),
      ['ERR_CLONE', () => 1, 1, 0],
      ['ERR_ARGUMENT', 1, 1, 0, 7],
      ['ERR_ARGUMENT', 1, 1, 0, null],
      ['ERR_ARGUMENT', 1, 1, 0, { signal: {} }],
      ['ERR_ABORTED', 1, 1, 0, aborted],
    ]
    for (const [code, ...args] of sends) {
      const given = args as [Sendable, number, number]
      for (const name of ['send', 'ssend'] as const) expect(await codeOf(comm[name](...given))).toBe(code)
      for (const name of ['isend', 'issend'] as const)
        expect(thrownCode(() => comm[name](...given))).toBe(code)
    }
    const receives: [code: string, source: unknown, tag: unknown, options?: unknown][] = [
      ...[2, -3, 0.5, Number.NaN, '0', null].map((source) => ['ERR_RANK', source, 0] as never),
      ...[-2, maxTag + 1, 0.5, '0', null].map((tag) => ['ERR_TAG', 1, tag] as never),
      ['ERR_ARGUMENT', 1, 0, 7],
      ['ERR_ARGUMENT', 1, 0, { signal: 'no' }],
      ['ERR_ABORTED', 1, 0, aborted],
      ['ERR_TYPE', 1, 0, { into: [] }],
      ['ERR_TYPE', 1, 0, { into: null }],
      ['ERR_COUNT', 1, 0, { into: strided(new Int8Array(9), { count: 2, blockLength: 2, stride: 1 }) }],
    ]
    for (const [code, ...args] of receives) {
      const given = args as [number, number]
      expect(await codeOf(comm.recv(...given))).toBe(code)
      expect(thrownCode(() => comm.irecv(...given))).toBe(code)
      if (code !== 'ERR_RANK' && code !== 'ERR_TAG') continue
      for (const name of ['probe', 'mprobe', 'iprobe', 'improbe'] as const)
        expect(await codeOf(comm[name](...given))).toBe(code)
      const [source, recvTag] = given
      expect(await codeOf(comm.sendrecv(1, 1, source, { recvTag }))).toBe(code)
    }
    await drained(world)
    expect(world.runtimes[0].processCounters.framesSent).toBe(0)
    expect(comm.counters.rank.messagesSent).toBe(0)
    await world.session.close()
  })

  it('accept tags up to 2^31 - 1', async () => {
    expect(maxTag).toBe(2 ** 31 - 1)
    await onEveryRank({ ranks: 2, processes: 2 }, async (comm) => {
      const { tag } = await comm.sendrecv(1, 1 - comm.rank, 1 - comm.rank, {
        sendTag: maxTag,
        recvTag: maxTag,
      })
      expect(tag).toBe(maxTag)
    })
  })
})
