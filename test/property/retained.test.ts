import { type Communicator, local } from 'rankweave'
import { expect, it } from 'vitest'
import type { RetainedBytes } from '../../src/comm/describe.js'
import { onRanks } from '../support/on-ranks.js'

const mixed = (rank: number, seed: number) => Math.imul(rank + seed, 0x9e3779b1) >>> 5

async function used(part: Communicator): Promise<RetainedBytes> {
  await part.barrier()
  await part.bcast(part.rank === 1 ? Int32Array.of(1) : null, 1)
  await part.allreduce(1, 'sum')
  return part.describe().retained
}

it('a split in one process accounts 8 bytes per rank: its table, and the ranks here', async () => {
  const ranks = 4096
  const accounts: RetainedBytes[] = []
  await onRanks({ ranks }, async (world) => {
    const part = await world.split(mixed(world.rank, 1) % 2, mixed(world.rank, 3))
    if (part.rank === 0) accounts.push(part.describe().retained)
  })
  const sum = (name: keyof RetainedBytes) => accounts.reduce((bytes, each) => bytes + each[name], 0)
  expect(accounts).toHaveLength(2)
  expect([sum('table'), sum('ranksHere'), sum('total')]).toEqual([4 * ranks, 4 * ranks, 8 * ranks])
})

it('a distributed table takes less than a quarter of a replicated one, all arrays but plans summed, also after collectives', async () => {
  const [ranks, processes] = [8192, 64]
  await onRanks({ ranks, fabric: local({ processes, seed: 1 }) }, async (world) => {
    const color = mixed(world.rank, 1) % 20 === 0 ? null : 0
    const split = (table: 'distributed' | 'replicated') =>
      world.split(color, mixed(world.rank, 3), {
        algorithm: 'sample-sort',
        sorters: 8,
        tableGroup: 64,
        table,
      })
    const part = await split('distributed')
    const reference = await split('replicated')
    if (part === null || reference === null) return
    const retained = await used(part)
    const replicated = await used(reference)
    expect(retained.total - retained.plans).toBeLessThan((replicated.total - replicated.plans) / 4)
    expect(retained.plans).toBe(replicated.plans)
    expect(retained.plans).toBeLessThan(128 * part.describe().ranksHere)
    expect(part.describe().table.kind).toBe('distributed')
    const { table, sharedTable, processes: listed, ranksHere, plans } = retained
    expect(retained.total).toBe(table + sharedTable + listed + ranksHere + plans)
    expect(listed).toBe(0)
  })
})
