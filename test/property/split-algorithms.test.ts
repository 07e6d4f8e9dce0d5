import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../src/comm/communicator.js'
import { run } from '../../src/comm/run.js'
import { type SplitOptions, splitAlgorithms } from '../../src/comm/split/plan.js'
import { local } from '../../src/fabric/local.js'
import { seededRandom } from '../../src/fabric/random.js'
import { cases } from '../support/soak.js'
import {
  colorPatterns,
  expectedGroups,
  keyPatterns,
  type SplitCase,
  splitCase,
} from '../support/split-cases.js'

/** Members that send to each other; of larger communicators every member looks up every other. */
const mostToTalk = 12

/** Every member hears from every other by the rank it knows it under: rank tables agree and lead where they say. */
async function checkMembers(
  part: Communicator,
  members: readonly number[],
  worldRank: number,
): Promise<void> {
  expect(part.size).toBe(members.length)
  expect(members[part.rank]).toBe(worldRank)
  expect([...(await part.worldRanks([...members.keys()]))]).toEqual(members)
  if (members.length > mostToTalk) return
  const sends = members.map((_, dest) => part.isend(Int32Array.of(worldRank, dest), dest, 3))
  for (const [source, from] of members.entries()) {
    const { data } = await part.recv<Int32Array>(source, 3)
    expect([...data]).toEqual([from, part.rank])
  }
  await Promise.all(sends.map((send) => send.wait()))
}

async function checkSplit(
  ranks: number,
  fabric: { processes: number; seed?: number },
  table: SplitCase,
  options: SplitOptions,
): Promise<void> {
  const groups = expectedGroups(table)
  await run(
    async (world) => {
      const color = table.color[world.rank]!
      const part = await world.split(color < 0 ? null : color, table.key[world.rank]!, options)
      const members = groups.find((group) => group.includes(world.rank))
      if (members === undefined) {
        expect(part).toBeNull()
        return
      }
      await checkMembers(part!, members, world.rank)
      await part!.free()
    },
    { ranks, fabric: local(fabric) },
  )
}

/** Algorithms that bring the whole table to every process anyway. */
const gathers = (algorithm: string) => algorithm === 'conventional' || algorithm === 'merging'

const anyCase = fc.record({
  ranks: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 1, max: 40 }) },
    fc.integer({ min: 41, max: 200 }),
  ),
  processes: fc.integer({ min: 1, max: 24 }),
  sorters: fc.integer({ min: 1, max: 24 }),
  tableGroup: fc.integer({ min: 1, max: 24 }),
  selfHostRows: fc.constantFrom(0, 0, 3, undefined),
  colors: fc.constantFrom(...Object.keys(colorPatterns)),
  keys: fc.constantFrom(...Object.keys(keyPatterns)),
  algorithm: fc.constantFrom(...splitAlgorithms, 'parallel-sort' as const),
  table: fc.constantFrom('distributed' as const, 'distributed' as const, 'replicated' as const),
  seed: fc.nat(),
})

describe('every algorithm with every table', () => {
  it('gives the communicators of the definition', async () => {
    await fc.assert(
      fc.asyncProperty(anyCase, async ({ ranks, processes, colors, keys, seed, ...asked }) => {
        const draw = seededRandom(seed)
        const table = splitCase(ranks, colorPatterns[colors]!, keyPatterns[keys]!, draw)
        // Every process is in the world only if it hosts a rank.
        const hosts = Math.min(processes, ranks)
        await checkSplit(ranks, { processes, seed }, table, {
          algorithm: asked.algorithm,
          table: gathers(asked.algorithm) ? 'replicated' : asked.table,
          sorters: Math.min(asked.sorters, hosts),
          tableGroup: Math.min(asked.tableGroup, hosts),
          ...(asked.selfHostRows === undefined ? {} : { selfHostRows: asked.selfHostRows }),
        })
      }),
      { numRuns: cases(300) },
    )
  })
})
