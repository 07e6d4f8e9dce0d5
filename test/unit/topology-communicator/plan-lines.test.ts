import { local } from 'rankweave'
import { formatSchedule, plan } from 'rankweave/schedule'
import { inNeighbors, outNeighbors, topologyFromEdges } from 'rankweave/topology'
import { expect, it } from 'vitest'
import { codeOf, onRanks } from '../../support/on-ranks.js'

const topology = topologyFromEdges(4, { sources: [0, 0, 1, 2, 3], destinations: [1, 1, 3, 2, 0] })

it.each(['graph', 'neighbors'] as const)(
  'planLines writes either version of the format, planned from the %s',
  async (planFrom) => {
    const { schedule } = plan(topology, { kind: 'direct' })
    const found = await onRanks({ ranks: 4, fabric: local({ processes: 2 }) }, async (world) => {
      const graph = await world.createDistGraphAdjacent({
        sources: inNeighbors(topology, world.rank),
        destinations: outNeighbors(topology, world.rank),
        strategy: { kind: 'direct' },
        planFrom,
      })
      return [await graph.planLines(2), await graph.planLines(2, { version: 1 })]
    })
    expect(found[0]).toEqual([null, null])
    expect(found[2]).toEqual([[...formatSchedule(schedule)], [...formatSchedule(schedule, { version: 1 })]])
  },
)

it('planLines refuses unknown versions, and versions that differ between ranks', async () => {
  const codes = await onRanks({ ranks: 2 }, async (world) => {
    const graph = await world.createDistGraphAdjacent({ sources: [], destinations: [] })
    const outcomeOf = (version: number) => codeOf(graph.planLines(0, { version: version as 1 }))
    return [await outcomeOf(4), await outcomeOf(1 + world.rank)]
  })
  for (const found of codes) expect(found).toEqual(['ERR_SCHEDULE_VERSION', 'ERR_COLLECTIVE_MISMATCH'])
})
