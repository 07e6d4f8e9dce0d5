import { mooreTopology, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { routeOf } from '../../../../src/neighborhood/plan/plan.js'
import { alltoallSchedule } from '../../../../src/neighborhood/strategies/route-schedule.js'
import type { Route } from '../../../../src/neighborhood/strategies/strategy-kind.js'
import { verify } from '../../../../src/schedule/verify/verify.js'
import { countMessages } from '../../../../src/schedule/walk.js'

const direct: Route = { hops: 1, hop: (_h, _source, destination) => destination }
const header = { strategy: 'routed', parameters: {} }
/** Self loops, parallel edges between others, and a rank without neighbors. */
const multigraph = topologyFromEdges(5, {
  sources: [0, 1, 0, 2, 2, 0, 1, 3, 0],
  destinations: [1, 1, 1, 0, 2, 3, 1, 0, 1],
})

describe('a neighbor alltoall by a route', () => {
  it('sends one message per pair of ranks, with every block once, where the route is direct', () => {
    const { messages, blocks } = countMessages(alltoallSchedule(multigraph, direct, header))
    expect({ messages, blocks }).toEqual({ messages: 4, blocks: 6 })
  })

  it('sends each rank at most the sum of radix - 1 messages', () => {
    const topology = mooreTopology({ dims: [8, 8], radius: 3 })
    const route = routeOf(topology, { kind: 'routed', radices: [4, 4, 4] })
    const schedule = alltoallSchedule(topology, route, header)
    expect(countMessages(schedule).messages).toBeLessThanOrEqual(64 * 9)
  })

  it('cuts ways that come back to a rank short', () => {
    const round: Route = { hops: 3, hop: (h, source, destination) => [1, source, destination][h] }
    const topology = topologyFromEdges(3, { sources: [0], destinations: [2] })
    const schedule = alltoallSchedule(topology, round, header)
    expect(verify(schedule)).toMatchObject({ ok: true })
    expect(countMessages(schedule).messages).toBe(1)
  })
})
