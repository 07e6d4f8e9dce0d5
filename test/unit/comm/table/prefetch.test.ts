import { type Communicator, local } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { mostPrefetched, PrefetchedRows } from '../../../../src/comm/table/distributed-table.js'
import { onRanks } from '../../../support/on-ranks.js'

const shuffled = (rank: number) => (rank * 7919) % 97

describe('prefetch', () => {
  const withPart = (check: (part: Communicator, order: readonly number[]) => Promise<void>) =>
    onRanks({ ranks: 24, fabric: local({ processes: 4, seed: 1 }) }, async (world) => {
      const options = { table: 'distributed', selfHostRows: 0, cacheRows: 0 } as const
      const part = await world.split(0, shuffled(world.rank), options)
      const order = Array.from({ length: 24 }, (_, rank) => rank).sort((a, b) => shuffled(a) - shuffled(b))
      await check(part, order)
      await part.barrier()
    })

  it('looks ranks up with one message per slice, answers look-ups at once from then on, and counts its bytes', async () => {
    await withPart(async (part, order) => {
      // Ranks of a process share the rows, so one of them prefetches.
      const { state, localIndex } = part.seat()
      if (localIndex > 0) return
      const before = part.describe()
      const ranks = [...order.keys()]
      await state.prefetch(ranks)
      const after = part.describe()
      expect(after.table.lookups!.messages - before.table.lookups!.messages).toBe(3)
      expect(ranks.map((rank) => state.table.lookup(rank))).toEqual(order)
      const remote = after.table.lookups!.asked - before.table.lookups!.asked
      expect(after.retained.table - before.retained.table).toBe(8 * remote)
      await state.prefetch(ranks)
      expect(part.describe().table.lookups!.messages).toBe(after.table.lookups!.messages)
    })
  })

  it('of a replicated table sends nothing', async () => {
    await withPart(async (part) => {
      await part.gather(0, 0)
      const { state } = part.seat()
      const before = state.runtime.processCounters.framesSent
      await state.prefetch([0, 5, 23])
      expect(state.runtime.processCounters.framesSent).toBe(before)
    })
  })

  it('retains at most 65,536 rows of a communicator, the first ones', () => {
    const rows = new PrefetchedRows()
    const many = Int32Array.from({ length: mostPrefetched + 10 }, (_, i) => 2 * i)
    rows.add(many.subarray(0, 5), many.subarray(0, 5))
    rows.add(many, many)
    expect(rows.size).toBe(mostPrefetched)
    expect(rows.find(2 * (mostPrefetched - 1))).toBe(2 * (mostPrefetched - 1))
    expect(rows.find(2 * mostPrefetched)).toBeUndefined()
    expect(rows.find(1)).toBeUndefined()
  })
})
