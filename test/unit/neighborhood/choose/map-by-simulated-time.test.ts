import { type Machine, nodeOf, parseMachine } from 'rankweave/machine'
import { chooseStrategy, plan, type Strategy, simulate } from 'rankweave/schedule'
import { describe, expect, it, test } from 'vitest'
import { drawnPermutation, mulberry32 } from '../../../../src/base/random.js'
import {
  mapBySimulatedTime,
  mostRefinedRanks,
  type SimulatedTimeOptions,
} from '../../../../src/neighborhood/choose/map-by-simulated-time.js'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'
import { relabelledTopology } from '../../../../src/topology/mapping/relabel.js'
import type { ProcessTopology } from '../../../../src/topology/process-topology.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'

const direct = { kind: 'direct' } as const
const machineOf = (text: string) => parseMachine(`${text},profile=simgrid-fast`)
const threeNodes = machineOf('cluster:nodes=3,cores=2')
const fourNodes = machineOf('cluster:nodes=4,cores=4')
const short = { bytes: 512, strategy: direct, mostWork: 10_000, swaps: 100 }

/** By the definition: the topology of slots is planned and simulated. */
function timeOf(
  topology: ProcessTopology,
  slotOf: Int32Array,
  machine: Machine,
  strategy: Strategy = direct,
  bytes = 512,
): number {
  const { schedule } = plan(relabelledTopology(topology, slotOf), strategy, { machine })
  return simulate(schedule, machine, { bytes }).timeUs
}

function* permutations(rest: readonly number[], first: readonly number[] = []): Generator<Int32Array> {
  if (rest.length === 0) yield Int32Array.from(first)
  for (const each of rest)
    yield* permutations(
      rest.filter((other) => other !== each),
      [...first, each],
    )
}

function expectMapping(topology: ProcessTopology, machine: Machine, options: SimulatedTimeOptions) {
  const mapping = mapBySimulatedTime(topology, machine, options)
  const identity = Int32Array.from({ length: topology.ranks }, (_, v) => v)
  const nodes = nodeOf(machine, topology.ranks)
  expect(mapping.slotOf.slice().sort()).toEqual(identity)
  expect(mapping.nodeOf).toEqual(Int32Array.from(mapping.slotOf, (slot) => nodes[slot]))
  const { timeUs, identityUs, strategy, identityStrategy } = mapping
  const { bytes } = options
  expect(timeUs).toBeLessThanOrEqual(identityUs)
  expect(timeUs).toBeCloseTo(timeOf(topology, mapping.slotOf, machine, strategy, bytes), 6)
  expect(identityUs).toBeCloseTo(timeOf(topology, identity, machine, identityStrategy, bytes), 6)
  return mapping
}

describe('mapBySimulatedTime', () => {
  it.each([
    ['er:12:d=0.3:seed=1', direct],
    ['er:16:d=0.2:seed=2', { kind: 'routed' }],
    ['powerlaw:15:d=3:gamma=2.3:seed=1', { kind: 'hierarchical' }],
    ['rgg:16:r=0.4:seed=1', { kind: 'common-neighbor', k: 2, mode: 'aware' }],
    ['er:7:d=0.5:seed=3', { kind: 'lanes' }],
  ] as const)(
    'is a permutation on exact capacities, never slower than before: %s by %o',
    (spec, strategy) => {
      expectMapping(buildTopology(spec), fourNodes, { ...short, strategy })
    },
  )

  it.each(['neighbor-alltoall', 'neighbor-reduce-any'] as const)('serves %s', (operation) => {
    const topology = buildTopology('er:12:d=0.3:seed=1')
    const { slotOf, timeUs, identityUs } = mapBySimulatedTime(topology, fourNodes, { ...short, operation })
    const { schedule } = plan(relabelledTopology(topology, slotOf), direct, { machine: fourNodes, operation })
    expect(timeUs).toBeCloseTo(simulate(schedule, fourNodes, { bytes: 512 }).timeUs, 6)
    expect(timeUs).toBeLessThanOrEqual(identityUs)
  })

  it.each(['er:6:d=0.3:seed=1'])('finds the least time of all mappings of 6 ranks on 3 nodes: %s', (spec) => {
    const topology = buildTopology(spec)
    const times = Array.from(permutations([0, 1, 2, 3, 4, 5]), (slotOf) =>
      timeOf(topology, slotOf, threeNodes),
    )
    const { timeUs } = mapBySimulatedTime(topology, threeNodes, {
      bytes: 512,
      strategy: direct,
      mostWork: 10_000,
    })
    expect(timeUs).toBeCloseTo(Math.min(...times), 6)
  })

  it('refines what the objectives of topologies find', () => {
    const topology = buildTopology('powerlaw:64:d=4:gamma=2.3:seed=1')
    const machine = machineOf('cluster:nodes=8,cores=8')
    const of = (swaps: number) =>
      mapBySimulatedTime(topology, machine, { ...short, strategy: { kind: 'routed' }, swaps })
    const [starts, refined] = [of(0), of(300)]
    expect([starts.swaps, refined.swaps]).toEqual([0, 300])
    expect(starts.timeUs).toBeLessThanOrEqual(starts.identityUs)
    expect(refined.timeUs).toBeLessThan(starts.timeUs)
    expect(refined.start).toBe(starts.start)
  })

  it('is the same each time', () => {
    const topology = buildTopology('er:16:d=0.3:seed=5')
    const of = (seed: number) => mapBySimulatedTime(topology, fourNodes, { ...short, seed })
    expect(of(7)).toEqual(of(7))
  })

  it('with auto each start has the strategy that is chosen for it', () => {
    const topology = relabelledTopology(buildTopology('moore:4x4:r=1'), drawnPermutation(mulberry32(3), 16))
    const auto = { kind: 'auto', budget: 1 } as const
    const mapping = expectMapping(topology, fourNodes, { ...short, strategy: auto })
    const chosen = chooseStrategy(topology, fourNodes, { bytes: 512, budget: 1 })
    expect(mapping.identityStrategy).toEqual(chosen.strategy)
    expect(mapping.identityUs).toBe(chosen.chosen.timeUs)
  })

  it('a grid keeps its order where a strategy of grids is the fastest', () => {
    const grid = buildTopology('moore:8x4:r=1')
    const machine = machineOf('cluster:nodes=32,cores=1')
    const chosen = chooseStrategy(grid, machine, { bytes: 64 })
    expect(chosen.strategy.kind).toBe('cartesian')
    const mapping = mapBySimulatedTime(grid, machine, { bytes: 64, mostWork: 10_000, swaps: 10 })
    expect(mapping.identityStrategy).toEqual(chosen.strategy)
    expect(mapping.timeUs).toBeLessThanOrEqual(mapping.identityUs)
  })

  it.each([
    ['one rank', topologyFromEdges(1, { sources: [], destinations: [] })],
    ['no edges', topologyFromEdges(6, { sources: [], destinations: [] })],
    ['messages of ranks to themselves', topologyFromEdges(3, { sources: [0, 1], destinations: [0, 1] })],
  ])('%s: no rank moves', (_, topology) => {
    for (const strategy of [direct, { kind: 'auto' } as const])
      expect(mapBySimulatedTime(topology, threeNodes, { bytes: 8, strategy })).toMatchObject({
        slotOf: Int32Array.from({ length: topology.ranks }, (_, v) => v),
        start: 'identity',
      })
  })

  it('above the bound compares the starts, and swaps no rank', () => {
    const ranks = mostRefinedRanks + 2
    const vertices = Array.from({ length: ranks }, (_, v) => v)
    // v and v + ranks / 2 exchange.
    const topology = topologyFromEdges(ranks, {
      sources: vertices,
      destinations: vertices.map((v) => (v + ranks / 2) % ranks),
    })
    const machine = machineOf(`cluster:nodes=${ranks / 2},cores=2`)
    const mapping = expectMapping(topology, machine, { ...short, bytes: 1024 })
    expect(mapping.swaps).toBe(0)
    expect(mapping.timeUs).toBeLessThan(mapping.identityUs)
  })
})

test.each<[string, Machine, object, string, RegExp]>([
  ['a machine without a profile', parseMachine('cluster:nodes=3,cores=2'), short, 'ERR_MACHINE', /profile/],
  ['fewer cores than ranks', machineOf('cluster:nodes=2,cores=2'), short, 'ERR_MACHINE', /cores/],
  ['no length of blocks', threeNodes, { strategy: direct }, 'ERR_ARGUMENT', /bytes/],
  ['a negative length', threeNodes, { ...short, bytes: -1 }, 'ERR_ARGUMENT', /bytes/],
  ['a part of a swap', threeNodes, { ...short, swaps: 0.5 }, 'ERR_ARGUMENT', /swaps/],
  ['an unknown option', threeNodes, { ...short, objective: 'pairs' }, 'ERR_ARGUMENT', /objective/],
  ['another operation', threeNodes, { ...short, operation: 'neighbor-reduce' }, 'ERR_ARGUMENT', /operation/],
  ['another strategy', threeNodes, { ...short, strategy: { kind: 'fast' } }, 'ERR_STRATEGY', /fast/],
  ['a strategy of grids', threeNodes, { ...short, strategy: { kind: 'cartesian' } }, 'ERR_STRATEGY', /grid/],
  ['bytes of auto', threeNodes, { ...short, strategy: { kind: 'auto', bytes: 8 } }, 'ERR_STRATEGY', /bytes/],
  [
    'another start',
    threeNodes,
    { ...short, starts: [{ start: 'x', nodeOf: [0] }] },
    'ERR_MACHINE',
    /start x/,
  ],
])('refuses %s', (_, machine, options, code, message) => {
  const topology = buildTopology('er:6:d=0.5:seed=1')
  expect(() => mapBySimulatedTime(topology, machine, options as SimulatedTimeOptions)).toThrowError(
    expect.objectContaining({ code, message: expect.stringMatching(message) }),
  )
})
