import { local, type RankweaveError, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import groupingProgram, { groupingCases } from '../../../support/grouping-program.js'
import { codeOf, onRanks } from '../../../support/on-ranks.js'
import { cases } from '../../../support/soak.js'

const ranks = 24
const asPlanned = groupingCases.map(() => 'same plan, right blocks')

describe('the distributed engine makes the same plan as the planner, byte for byte', () => {
  it.each([
    { processes: 1, nodes: 1 },
    { processes: 2, nodes: 2 },
    { processes: 5, nodes: 3 },
    { processes: 24, nodes: 4 },
  ])('local, $processes processes', async ({ processes, nodes }) => {
    for (let seed = processes; seed < processes + cases(3, 1); seed++) {
      const results = await run(groupingProgram, { ranks, fabric: local({ processes, nodes, seed }) })
      expect(results).toEqual(new Array(ranks).fill(asPlanned))
    }
  })
})

describe('createDistGraphAdjacent with the engine distributed', () => {
  const hint = '; run with --diagnose, or diagnose: true, to see the line of the call'
  const strategy = { kind: 'common-neighbor', k: 2, mode: 'agnostic', engine: 'distributed' } as const

  it('rejects, on every rank, an edge that only one rank lists, and names it', async () => {
    const failures = await onRanks({ ranks: 7, fabric: local({ processes: 3 }) }, async (world) => {
      const next = (world.rank + 1) % world.size
      const previous = (world.rank + world.size - 1) % world.size
      const sources = world.rank === 3 ? [previous, 5] : [previous]
      return world.createDistGraphAdjacent({ sources, destinations: [next], strategy }).then(
        () => 'made',
        ({ code, message, details }: RankweaveError) => ({ code, message, details }),
      )
    })
    expect(failures).toEqual(
      new Array(7).fill({
        code: 'ERR_TOPOLOGY',
        message: `createDistGraphAdjacent: rank 3 lists 5 as a source, but rank 5 does not list 3 as a destination${hint}`,
        details: { source: 5, destination: 3 },
      }),
    )
  })

  it('counts parallel edges at both ends', async () => {
    const message = await onRanks({ ranks: 2, fabric: local({ processes: 2 }) }, async (world) => {
      const other = 1 - world.rank
      const [sources, destinations] = [
        [other, other],
        world.rank === 0 ? [other, other] : [other, other, other],
      ]
      return world.createDistGraphAdjacent({ sources, destinations, strategy }).catch((e) => e.message)
    })
    expect(message[0]).toBe(
      `createDistGraphAdjacent: rank 1 lists 0 as a destination 3 times, but rank 0 lists 1 as a source 2 times${hint}`,
    )
  })

  it('retains lists and weights of this process’s ranks only', async () => {
    await onRanks({ ranks: 2, fabric: local({ processes: 2 }) }, async (world) => {
      const other = 1 - world.rank
      const graph = await world.createDistGraphAdjacent({
        sources: [other, world.rank],
        destinations: [world.rank, other],
        sourceWeights: [1, 2],
        destinationWeights: [3, world.rank],
        strategy,
      })
      expect([...graph.sources]).toEqual([other, world.rank])
      expect([...graph.destinationWeights!]).toEqual([3, world.rank])
      const { outStart } = graph.topology
      expect(outStart[other + 1] - outStart[other]).toBe(0)
      expect([...(await graph.plan()).ranks!]).toEqual([world.rank])
    })
  })

  it('rejects unknown engines, malformed seeds and roots out of range', async () => {
    const codes = await onRanks({ ranks: 1 }, async (world) => {
      const lists = { sources: [], destinations: [] }
      const made = (over: object) =>
        codeOf(world.createDistGraphAdjacent({ ...lists, strategy: { ...strategy, ...over } }))
      const graph = await world.createDistGraphAdjacent({ ...lists, strategy })
      const refused = await Promise.all([{ engine: 'best' }, { labelSeed: -1 }, { k: 257 }].map(made))
      return [...refused, await codeOf(graph.planLines(1))]
    })
    expect(codes).toEqual([['ERR_STRATEGY', 'ERR_STRATEGY', 'ERR_STRATEGY', 'ERR_RANK']])
  })
})
