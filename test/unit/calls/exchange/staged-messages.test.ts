import { setImmediate as turn } from 'node:timers/promises'
import { type Communicator, isRankweaveError } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { ThreadsSession } from '../../../../src/fabric/threads/threads.js'
import { connectThreads, resolveThreads } from '../../../../src/fabric/threads/threads-connect.js'
import { hostSession } from '../../../../src/world/world.js'

/** A world on threads whose processes are all in this one. */
async function onThreads<R>(processes: number, main: (world: Communicator) => Promise<R>): Promise<R[]> {
  const connections = connectThreads(resolveThreads({ processes }))
  const worlds = connections.map((connection) =>
    hostSession(new ThreadsSession(connection), main, { ranks: processes }),
  )
  return (await Promise.all(worlds)).flat() as R[]
}

const stagingOf = (world: Communicator) => world.seat().state.runtime.staging!

const long = 100_000

describe('long messages of collectives between threads', () => {
  it('are staged once for all their receivers, whose memory is free again afterwards', async () => {
    const left = await onThreads(2, async (world) => {
      const staging = stagingOf(world)
      const all = staging.freeBytes
      const copied = world.seat().state.runtime.processCounters
      const before = copied.bytesCopied
      const data = new Uint8Array(long).fill(world.rank + 1)
      const gathered = await world.allgather(data)
      expect(gathered).toEqual(Uint8Array.from({ length: 2 * long }, (_, i) => Math.floor(i / long) + 1))
      // Into the staging memory, and out of that of the other.
      expect(copied.bytesCopied - before).toBe(2 * long)
      await world.barrier()
      return all - staging.freeBytes
    })
    expect(left).toEqual([0, 0])
  })

  it('come by the rings where there is no room to stage them', async () => {
    await onThreads(2, async (world) => {
      const staging = stagingOf(world)
      const held = staging.copy(new Uint8Array(staging.freeBytes - 64))
      expect(held).toBeDefined()
      const sum = await world.allreduce(new Float64Array(long).fill(world.rank), 'sum')
      expect(sum).toEqual(new Float64Array(long).fill(1))
      expect(await world.bcast(world.rank === 1 ? sum : null, 1)).toEqual(sum)
      await world.barrier()
      expect(staging.freeBytes).toBe(64)
    })
  })

  it.each([8, 9])(
    'of a broadcast among %i: a root of up to 8 processes sends every head itself',
    async (processes) => {
      const sent = await onThreads(processes, async (world) => {
        const { processCounters } = world.seat().state.runtime
        const root = processes - 1
        const sentBy = async (data: Uint8Array) => {
          const before = processCounters.framesSent
          expect(await world.bcast(world.rank === root ? data : null, root)).toEqual(data)
          return processCounters.framesSent - before
        }
        const short = await sentBy(Uint8Array.of(1, 2, 3))
        await world.barrier()
        const none = await sentBy(new Uint8Array(0))
        await world.barrier()
        const staged = await sentBy(new Uint8Array(long).fill(7))
        await world.barrier()
        return { short, none, staged }
      })
      const others = processes - 1
      const isStar = processes <= 8
      for (const one of ['short', 'none'] as const) {
        const frames = sent.map((counts) => counts[one])
        // One per process but the root, whoever sends it.
        expect(frames.reduce((sum, count) => sum + count, 0)).toBe(others)
        if (isStar) expect(frames.at(-1)).toBe(others)
        else expect(frames.at(-1)).toBe(4)
      }
      // A head and an offer to each, who answers when it has read.
      const total = sent.reduce((sum, { staged }) => sum + staged, 0)
      expect(total).toBe(3 * others)
      if (isStar) expect(sent.map(({ staged }) => staged)).toEqual([...Array(others).fill(1), 2 * others])
    },
  )

  it('stay readable after their sender has failed, until every receiver has taken or dropped them', async () => {
    const codes = await onThreads(2, async (world) => {
      const staging = stagingOf(world)
      const all = staging.freeBytes
      const half = await world.dup()
      const aborted = new AbortController()
      const into = new Uint8Array(2 * long).fill(7)
      // Rank 1 never joins: the message to it waits in the staging memory of rank 0.
      const call =
        world.rank === 1
          ? Promise.resolve()
          : half.allgather(new Uint8Array(long).fill(world.rank + 1), { into, signal: aborted.signal })
      const code = call.then(
        () => 'none',
        (error) => (isRankweaveError(error) ? error.code : String(error)),
      )
      await world.barrier()
      if (world.rank === 0) {
        expect(all - staging.freeBytes).toBeGreaterThanOrEqual(long)
        aborted.abort()
      }
      const ended = await code
      const seen = into.slice()
      await world.barrier()
      for (let turns = 0; staging.freeBytes < all; turns++) {
        expect(turns).toBeLessThan(10_000)
        await turn()
      }
      expect(into).toEqual(seen)
      await world.barrier()
      return ended
    })
    expect(codes).toEqual(['ERR_ABORTED', 'none'])
  })
})
