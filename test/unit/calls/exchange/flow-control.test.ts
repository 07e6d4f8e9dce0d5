import { setImmediate as turn } from 'node:timers/promises'
import { type Communicator, isRankweaveError, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { mulberry32 } from '../../../../src/base/random.js'
import { envelopeChargeBytes } from '../../../../src/messages/process/credit.js'
import { cases } from '../../../support/soak.js'

const codeOf = (error: unknown) => (isRankweaveError(error) ? error.code : String(error))

/** What eager messages to process `peer` are charged here, and of its messages is not returned yet. */
function charges(comm: Communicator, peer: number) {
  return comm.seat().state.runtime.credit.outstanding(peer)
}

/** Waits while `value` changes from turn to turn of the event loop. */
async function untilSteady(value: () => number): Promise<void> {
  for (let steady = 0, last = value(); steady < 4; steady++) {
    await turn()
    if (value() !== last) steady = -1
    last = value()
  }
}

/** Calls in which rank 1 sends to rank 0 and waits for nothing but, past the credit, its receiver. */
const sending = [
  (world: Communicator, data: Uint8Array) => world.bcast(world.rank === 1 ? data : null, 1),
  (world: Communicator, data: Uint8Array) => world.reduce(data, 'max', 0),
  (world: Communicator, data: Uint8Array) => world.gather(data, 0),
  (world: Communicator, data: Uint8Array) => world.gatherv(data, 0),
  (world: Communicator, data: Uint8Array) =>
    world.scatterv(
      world.rank === 1 ? data : null,
      world.rank === 1 ? Int32Array.of(data.length, 0) : null,
      1,
    ),
] as const

describe('collectives that only send', () => {
  it('stay at most one large call ahead of a receiver that rests', async () => {
    const begun = [0, 0]
    let ahead = 0
    await run(
      async (world: Communicator) => {
        const data = new Uint8Array(800_000).fill(world.rank)
        for (let call = 0; call < 30; call++) {
          if (world.rank === 0) await untilSteady(() => begun[1])
          begun[world.rank]++
          ahead = Math.max(ahead, begun[1] - begun[0])
          await sending[call % sending.length](world, data)
        }
      },
      { ranks: 2, processes: 2 },
    )
    expect(ahead).toBe(1)
  })

  it('leave no more at a stalled receiver than the credit, however many calls', async () => {
    const calls = cases(5000, 5000)
    const limits = { eagerLimitBytes: 4096, creditBytes: 100_000 }
    const sizes = [0, 1, 8, 200, 3000, 5000]
    const random = mulberry32(11)
    const draw = (below: number) => Math.floor(random() * below)
    const plan = Array.from({ length: calls }, () => ({
      kind: draw(sending.length + 2),
      data: new Uint8Array(sizes[draw(sizes.length)]),
      isAwaited: draw(4) > 0,
    }))
    const begun = [0, 0]
    /** Calls that are complete at the sender and that the receiver has not begun. */
    const queued = new Set<number>()
    let queuedBytes = 0
    let mostBytes = 0
    await run(
      async (world: Communicator) => {
        const graph = await world.createDistGraphAdjacent({
          sources: world.rank === 0 ? [1] : [],
          destinations: world.rank === 0 ? [] : [0],
        })
        const small = new Uint8Array(100).fill(world.rank)
        const starts = graph.neighborAllgatherInit(small, new Uint8Array(100))
        const one = async (index: number): Promise<void> => {
          const { kind, data } = plan[index]
          const message = kind >= sending.length ? small : data
          if (kind > sending.length) await starts.start()
          else if (kind === sending.length) await graph.neighborAllgather(small)
          else await sending[kind](world, data)
          if (world.rank === 0 || index < begun[0]) return
          expect(message.length).toBeLessThanOrEqual(limits.eagerLimitBytes)
          queued.add(index)
          queuedBytes += message.length + envelopeChargeBytes
          mostBytes = Math.max(mostBytes, queuedBytes)
        }
        const unawaited: Promise<void>[] = []
        for (const [index, { kind, isAwaited }] of plan.entries()) {
          if (world.rank === 0) {
            if (index % 1000 === 0) await untilSteady(() => begun[1] + queued.size)
            if (queued.delete(index)) {
              const length = kind >= sending.length ? small.length : plan[index].data.length
              queuedBytes -= length + envelopeChargeBytes
            }
          }
          begun[world.rank] = index + 1
          const call = one(index)
          // A persistent request has one start at a time.
          if (isAwaited || kind > sending.length) await call
          else unawaited.push(call)
        }
        await Promise.all(unawaited)
        await world.barrier()
        const peer = 1 - world.rank
        const sent = charges(world, peer).inFlightBytes
        const owed = (await world.sendrecv(Float64Array.of(charges(world, peer).owedBytes), peer, peer)).data
        // The exchange of these figures is charged, too.
        expect(Math.abs(sent - (owed as Float64Array)[0])).toBeLessThan(500)
      },
      { ranks: 2, fabric: local({ processes: 2, seed: 5 }), ...limits },
    )
    expect(mostBytes).toBeLessThanOrEqual(limits.creditBytes)
    expect(mostBytes).toBeGreaterThan(limits.creditBytes / 2)
  })

  it('return every charge when their communicator is revoked or its calls do not match', async () => {
    await run(
      async (world: Communicator) => {
        const small = Uint8Array.of(1)
        const several = new Uint8Array(3000)
        for (let round = 0; round < 20; round++) {
          const comm = await world.dup()
          if (world.rank === 1) {
            const calls = [comm.bcast(small, 1), comm.bcast(several, 1), comm.bcast(small, 1)]
            await Promise.allSettled(calls)
            await untilSteady(() => 0)
          } else if (round % 2 === 0) {
            await untilSteady(() => 0)
            await expect(comm.bcast(null, 1, { signal: AbortSignal.abort() })).rejects.toThrow()
          } else {
            await comm.barrier().catch(() => {})
          }
          await world.barrier()
        }
        const peer = 1 - world.rank
        const owed = await world.sendrecv(Float64Array.of(charges(world, peer).owedBytes), peer, peer)
        expect(charges(world, peer).inFlightBytes - (owed.data as Float64Array)[0]).toBeLessThan(500)
      },
      {
        ranks: 2,
        fabric: local({ processes: 2, seed: 2, maxPayloadBytes: 1024 }),
        creditBytes: 100_000,
      },
    )
  })
})

describe('a message that its receiver has not taken', () => {
  it('is named in the report of a deadlock', async () => {
    const failure = await run(
      async (world: Communicator) => {
        if (world.rank === 0) await world.bcast(new Uint8Array(100_000), 0)
        else await world.recv(0)
      },
      { ranks: 2, processes: 2 },
    ).catch((error: unknown) => error)
    expect(codeOf(failure)).toBe('ERR_DEADLOCK')
    expect(String(failure)).toContain('rank 0 waits in bcast(root 0) #0 for process 1 with rank 1 to receive')
  })

  it('fails the call everywhere when its buffer is detached, and names the process', async () => {
    const errors = await run(
      async (world: Communicator) => {
        const data = new Uint8Array(100_000)
        if (world.rank === 0) await turn()
        const call = world.reduce(data, 'sum', 0)
        if (world.rank === 1) structuredClone(data.buffer, { transfer: [data.buffer] })
        return call.then(
          () => 'ok',
          ({ code, message }) => `${code} ${message}`,
        )
      },
      { ranks: 2, processes: 2 },
    )
    for (const error of errors)
      expect(error).toMatch(/ERR_TYPE.*: a buffer was detached on process 1 before it completed$/)
  })

  it('is fetched although its receiver frees the communicator at once', async () => {
    await run(
      async (world: Communicator) => {
        for (let round = 0; round < 10; round++) {
          const comm = await world.dup()
          const data = new Uint8Array(5000).fill(round)
          const calls = [comm.bcast(data, 0), comm.reduce(data, 'sum', 1), comm.barrier()]
          await comm.free()
          await Promise.all(calls)
          expect([...world.seat().state.runtime.contexts].length).toBe(1)
        }
      },
      { ranks: 2, processes: 2, eagerLimitBytes: 0, creditBytes: 0 },
    )
  })
})
