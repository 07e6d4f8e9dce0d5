import fc from 'fast-check'
import { createOperation, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { cases } from '../../../support/soak.js'

/** The tree by its definition, as text. */
function expression(first: number, end: number): string {
  if (end - first === 1) return `${first}`
  const half = 2 ** Math.ceil(Math.log2(end - first) - 1)
  return `(${expression(first, first + half)} ${expression(first + half, end)})`
}

/**
 * What precedes a rank, and up to a node of which it is the first: down the tree, the left halves one by one.
 */
function prefix(rank: number, first: number, end: number, before: string | null): string | null {
  if (end - first === 1) return before
  const middle = first + 2 ** Math.ceil(Math.log2(end - first) - 1)
  if (rank < middle) return prefix(rank, first, middle, before)
  const left = expression(first, middle)
  return prefix(rank, middle, end, before === null ? left : `(${before} ${left})`)
}

const joined = createOperation((left: string, right: string) => `(${left} ${right})`, { name: 'joined' })
const mixed = (rank: number, seed: number) => Math.imul(rank + 1, 0x9e3779b1 + 2 * seed) >>> (1 + (seed % 20))

describe('reductions along the tree', () => {
  it('combine in its order on every layout, whether processes know the whole table or not', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 24 }),
        fc.integer({ min: 1, max: 6 }),
        fc.nat(1000),
        fc.constantFrom('distributed' as const, 'replicated' as const),
        async (ranks, processes, seed, table) => {
          await run(
            async (world) => {
              const part = await world.split(0, mixed(world.rank, seed), {
                table,
                algorithm: 'parallel-sort',
                selfHostRows: 0,
              })
              const { rank, size } = part
              const whole = expression(0, size)
              const root = seed % size
              expect(
                await Promise.all([
                  part.allreduce(`${rank}`, joined),
                  part.reduce(`${rank}`, joined, root),
                  part.scan(`${rank}`, joined),
                  part.exscan(`${rank}`, joined),
                ]),
              ).toEqual([
                whole,
                rank === root ? whole : null,
                rank === 0 ? '0' : `(${prefix(rank, 0, size, null)} ${rank})`,
                prefix(rank, 0, size, null),
              ])
            },
            { ranks, fabric: local({ processes: Math.min(processes, ranks), seed }) },
          )
        },
      ),
      { numRuns: cases(60, 25) },
    )
  })
})
