import { nodeOf, parseMachine } from 'rankweave/machine'
import { parseStrategy, simulate } from 'rankweave/schedule'
import { buildTopology, type ProcessTopology, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { simulateFrames } from '../../../../src/cost/simulate/simulate.js'
import { framesOfMoves } from '../../../../src/neighborhood/choose/simulated.js'
import { plan, routeOf } from '../../../../src/neighborhood/plan/plan.js'
import { deliveryTrees } from '../../../../src/neighborhood/strategies/delivery-trees.js'
import { distinctOut } from '../../../../src/topology/neighbors.js'
import { clusterOf } from '../../../support/cluster-of.js'
import { plainProfile } from '../../../support/simulated-machine.js'
import { cases } from '../../../support/soak.js'

const strategies = [
  ...['direct', 'routed', 'routed:radices=3.10,first=highest', 'allgather:radices=4.7'],
  ...['hierarchical', 'hierarchical:between=6,inside=2.4,digits=offset,order=highest', 'lanes:lanes=2'],
  ...['lanes:radices=2.4,widths=2.1,own=spread', 'pipelined', 'pipelined:steps=1.1,back=2,inside=8'],
]

const machine = {
  ...clusterOf([3, 5, 1, 8, 4, 7]),
  profile: { ...plainProfile, eagerLimitBytes: 2000 },
}

/** 28 ranks with parallel edges and self loops. */
function multigraph(seed: number): ProcessTopology {
  const { outStart, outRank } = buildTopology(`er:28:d=0.${1 + (seed % 5)}:seed=${seed}`)
  const sources = Array.from(outStart.subarray(1)).flatMap((end, rank) =>
    Array.from({ length: end - outStart[rank] }, () => rank),
  )
  return topologyFromEdges(28, {
    sources: Int32Array.from([...sources, ...sources.slice(0, 9), 3, 4]),
    destinations: Int32Array.from([...outRank, ...outRank.subarray(0, 9), 3, 4]),
  })
}

describe('frames made from moves', () => {
  it.each(strategies)('take as long as the schedule of %s', (text) => {
    const strategy = parseStrategy(text)
    for (let seed = 0; seed < cases(20, 4); seed++) {
      const topology = multigraph(seed)
      const moves = deliveryTrees(routeOf(topology, strategy, { machine }), distinctOut(topology), 28)
      const frames = framesOfMoves(topology, moves)
      const { schedule } = plan(topology, strategy, { nodeOf: nodeOf(machine, 28) })
      for (const bytes of [0, 4, 700]) {
        const expected = simulate(schedule, machine, { bytes })
        const { timeUs, traffic } = simulateFrames(frames, machine, bytes)
        // Copies to slots are added in another order.
        expect(timeUs).toBeCloseTo(expected.timeUs, 9)
        expect(traffic).toEqual(expected.traffic)
      }
    }
  })

  it('share the links of a torus, and take no time where there are none', () => {
    const torus = parseMachine('torus:dims=4x4,cores=4,profile=simgrid-fast')
    const grid = buildTopology('moore:8x8:r=1')
    const moves = deliveryTrees(routeOf(grid, parseStrategy('routed:radices=8.8')), distinctOut(grid), 64)
    const { schedule } = plan(grid, parseStrategy('routed:radices=8.8'))
    const expected = simulate(schedule, torus, { bytes: 4096 }).timeUs
    expect(simulateFrames(framesOfMoves(grid, moves), torus, 4096).timeUs).toBe(expected)
    const none = topologyFromEdges(3, { sources: new Int32Array(0), destinations: new Int32Array(0) })
    const noMoves = deliveryTrees(routeOf(none, { kind: 'direct' }), distinctOut(none), 3)
    expect(simulateFrames(framesOfMoves(none, noMoves), torus, 4).timeUs).toBe(0)
  })
})
