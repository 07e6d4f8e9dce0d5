import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'

const ranks = 60
const processes = 7

/** An order without closed form, so that every process has many short runs of ranks. */
const shuffled = (rank: number) => (rank * 7919) % 97
const fraction = (rank: number) => 1 / (1 + rank)

/** What every rank gets of the collectives that do not gather or scatter by rank. */
async function results(part: Communicator): Promise<unknown[]> {
  const { rank, size } = part
  const mine = Float64Array.of(fraction(rank), -fraction(rank))
  await part.barrier()
  // In flight together: the first reduction of a communicator plans for all.
  const found: unknown[] = await Promise.all([
    part.allreduce(mine, 'sum'),
    part.scan(mine, 'sum'),
    part.exscan(fraction(rank), 'sum'),
  ])
  for (const root of [0, 1, size - 1]) {
    found.push(await part.bcast(rank === root ? Int32Array.of(root, rank) : null, root))
    found.push(await part.reduce(mine, 'sum', root))
  }
  return found
}

const splitWith = (table: 'distributed' | 'replicated') => (world: Communicator) =>
  world.split(shuffled(world.rank) % 2, shuffled(world.rank), {
    table,
    algorithm: 'parallel-sort',
    selfHostRows: 0,
  })

describe('on a communicator with a distributed table', () => {
  it('barrier, bcast, reduce, allreduce and scans fetch no table and give the bits of a replicated one', async () => {
    await run(
      async (world) => {
        const part = await splitWith('distributed')(world)
        const reference = await splitWith('replicated')(world)
        expect(await results(part)).toEqual(await results(reference))
        const { kind, lookups } = part.describe().table
        expect(kind).toBe('distributed')
        expect(lookups!.cached).toBeLessThanOrEqual(2 * 3)
      },
      { ranks, fabric: local({ processes, seed: 5 }) },
    )
  })

  it('reductions are the same where some processes have fetched the table before', async () => {
    await run(
      async (world) => {
        const part = await splitWith('distributed')(world)
        if (world.rank % 3 === 0) await part.group()
        expect(await results(part)).toEqual(await results(await splitWith('replicated')(world)))
      },
      { ranks, fabric: local({ processes, seed: 6 }) },
    )
  })

  it('gather fetches it', async () => {
    await run(
      async (world) => {
        const part = await splitWith('distributed')(world)
        await part.gather(part.rank, 0)
        expect(part.describe().table.kind).toBe('replicated')
      },
      { ranks, fabric: local({ processes, seed: 7 }) },
    )
  })
})
