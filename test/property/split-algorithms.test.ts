import fc from 'fast-check'
import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/base/random.js'
import {
  type SplitAlgorithmName,
  type SplitOptions,
  splitAlgorithms,
} from '../../src/comm/split/split-plan.js'
import { cases } from '../support/soak.js'
import {
  colorPatterns,
  expectedGroups,
  keyPatterns,
  type SplitCase,
  type SplitLayout,
  splitCase,
  splitLayouts,
} from '../support/split-cases.js'

/** Members that send to each other; of larger communicators every member looks up every other. */
const mostToTalk = 12

/**
 * Every member hears from every other by the rank it knows it under: rank tables agree and lead where they
 * say.
 */
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
  { ranks, processes, seed }: SplitLayout,
  table: SplitCase,
  options: SplitOptions,
  eagerLimitBytes?: number,
): Promise<void> {
  const groups = expectedGroups(table)
  await run(
    async (world) => {
      const color = table.color[world.rank]
      const part = await world.split(color < 0 ? null : color, table.key[world.rank], options)
      const members = groups.find((group) => group.includes(world.rank))
      if (members === undefined) {
        expect(part).toBeNull()
        return
      }
      await checkMembers(part!, members, world.rank)
      await part!.free()
    },
    {
      ranks,
      fabric: local({ processes, seed }),
      ...(eagerLimitBytes === undefined ? {} : { eagerLimitBytes }),
    },
  )
}

/** Algorithms that bring the whole table to every process anyway. */
const gathers = (algorithm: string) => algorithm === 'conventional' || algorithm === 'merging'

/** Options that an algorithm takes. */
function optionsOf(
  { sorters, tableGroup }: SplitLayout,
  algorithm: SplitAlgorithmName,
  table: 'distributed' | 'replicated',
  selfHostRows: number | undefined,
): SplitOptions {
  return {
    algorithm,
    table: gathers(algorithm) ? 'replicated' : table,
    sorters,
    tableGroup,
    ...(selfHostRows === undefined ? {} : { selfHostRows }),
  }
}

const anyOptions = {
  algorithm: fc.constantFrom(...splitAlgorithms, 'parallel-sort' as const),
  table: fc.constantFrom('distributed' as const, 'distributed' as const, 'replicated' as const),
  selfHostRows: fc.constantFrom(0, 0, 3, undefined),
  colors: fc.constantFrom(...Object.keys(colorPatterns)),
  keys: fc.constantFrom(...Object.keys(keyPatterns)),
}

describe('every split algorithm with every kind of table', () => {
  it('makes the communicators that the definition gives', async () => {
    // With a limit of 0 messages stay with their senders until they are taken.
    const eagerLimitBytes = fc.constantFrom(undefined, undefined, 0)
    const anyCase = fc.record({ layout: splitLayouts, eagerLimitBytes, ...anyOptions })
    await fc.assert(
      fc.asyncProperty(anyCase, async ({ layout, eagerLimitBytes: limit, colors, keys, ...kind }) => {
        const draw = seededRandom(layout.seed)
        const given = splitCase(layout.ranks, colorPatterns[colors], keyPatterns[keys], draw)
        const { algorithm, table, selfHostRows } = kind
        await checkSplit(layout, given, optionsOf(layout, algorithm, table, selfHostRows), limit)
      }),
      { numRuns: cases(100, 50) },
    )
  })
})

describe('splits of splits', () => {
  it('are correct at any depth, with another algorithm and table on each level, parents freed or not', async () => {
    const level = fc.record({ ...anyOptions, seed: fc.nat(), freesFirst: fc.boolean() })
    const nested = fc.record({
      layout: splitLayouts,
      levels: fc.array(level, { minLength: 2, maxLength: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(nested, async ({ layout, levels }) => {
        await run(
          async (world) => {
            let parent = world
            let members = Array.from({ length: layout.ranks }, (_, rank) => rank)
            for (const { algorithm, table, selfHostRows, colors, keys, seed, freesFirst } of levels) {
              const { color, key } = splitCase(
                members.length,
                colorPatterns[colors],
                keyPatterns[keys],
                seededRandom(seed),
              )
              const mine = color[parent.rank]
              // All members know how many processes there are, whatever the table.
              const hosts = parent.describe().processes
              const options = optionsOf(
                {
                  ...layout,
                  sorters: Math.min(layout.sorters, hosts),
                  tableGroup: Math.min(layout.tableGroup, hosts),
                },
                algorithm,
                table,
                selfHostRows,
              )
              const part = await parent.split(mine < 0 ? null : mine, key[parent.rank], options)
              if (freesFirst && parent !== world) await parent.free()
              const group = expectedGroups({ color, key }).find((ranks) => ranks.includes(parent.rank))
              if (group === undefined) {
                expect(part).toBeNull()
                return
              }
              members = group.map((rank) => members[rank])
              expect(part!.size).toBe(members.length)
              expect(members[part!.rank]).toBe(world.rank)
              const asked = [0, part!.size - 1, (part!.rank * 7 + 1) % part!.size]
              expect([...(await part!.worldRanks(asked))]).toEqual(asked.map((rank) => members[rank]))
              parent = part!
            }
          },
          { ranks: layout.ranks, fabric: local({ processes: layout.processes, seed: layout.seed }) },
        )
      }),
      { numRuns: cases(25, 10) },
    )
  })
})
