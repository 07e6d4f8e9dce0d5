import fc from 'fast-check'
import { expect, test } from 'vitest'
import { communityStart } from '../../src/topology/mapping/communities.js'
import { type MapOptions, mapTopology } from '../../src/topology/mapping/map-topology.js'
import { placementCosts } from '../../src/topology/mapping/placement-costs.js'
import { type MappingObjective, mappingObjectives } from '../../src/topology/mapping/problem.js'
import { distinctOut } from '../../src/topology/neighbors.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'
import { topologyFromEdges } from '../../src/topology/topology-builders.js'
import { cases } from '../support/soak.js'
import { smallTopologies } from './random-topology.js'

const hops = (a: number, b: number) => Math.abs(a - b)

/** By the definition, edge by edge. */
function costOf(topology: ProcessTopology, nodeOf: ArrayLike<number>, objective: MappingObjective): number {
  const { ranks, outStart, outRank, outWeight } = topology
  const pairs = new Set<string>()
  const edges = new Set<string>()
  let hopBytes = 0
  const [leaving, entering] = [new Map<number, number>(), new Map<number, number>()]
  for (let v = 0; v < ranks; v++)
    for (let e = outStart[v]; e < outStart[v + 1]; e++) {
      const [from, to] = [nodeOf[v], nodeOf[outRank[e]]]
      hopBytes += (outWeight?.[e] ?? 1) * hops(from, to)
      if (from === to) continue
      edges.add(`${v} ${outRank[e]}`)
      if (pairs.has(`${v} ${to}`)) continue
      pairs.add(`${v} ${to}`)
      leaving.set(from, (leaving.get(from) ?? 0) + 1)
      entering.set(to, (entering.get(to) ?? 0) + 1)
    }
  const busiest = Math.max(0, ...leaving.values(), ...entering.values())
  const distinct = distinctOut(topology).rank.length
  return {
    pairs: pairs.size,
    edges: edges.size,
    'hop-bytes': hopBytes,
    'busiest-node': busiest + pairs.size / (1 + distinct),
  }[objective]
}

const blocksOf = (ranks: number, cores: number) =>
  Array.from({ length: ranks }, (_, slot) => Math.floor(slot / cores))

const problems = smallTopologies(20).chain(({ topology }) =>
  fc.record({
    topology: fc.constant(topology),
    objective: fc.constantFrom(...mappingObjectives),
    // Uneven nodes, nodes without slots, and slots of a node that are not together.
    nodeOfSlot: fc.oneof(
      fc.array(fc.integer({ min: 0, max: 4 }), { minLength: topology.ranks, maxLength: topology.ranks }),
      fc.integer({ min: 1, max: 5 }).map((cores) => blocksOf(topology.ranks, cores)),
    ),
    seed: fc.integer({ min: 0, max: 100 }),
  }),
)

const mapped = (topology: ProcessTopology, options: MapOptions) =>
  mapTopology(topology, { mostWork: 20_000, distance: hops, ...options })

test('a mapping is a permutation on exact capacities, never worse than identity, and costs what it says', () => {
  fc.assert(
    fc.property(problems, ({ topology, objective, nodeOfSlot, seed }) => {
      const { slotOf, nodeOf, cost, identityCost } = mapped(topology, { nodeOfSlot, objective, seed })
      expect(Int32Array.from(slotOf).sort()).toEqual(Int32Array.from({ length: topology.ranks }, (_, v) => v))
      expect(nodeOf).toEqual(Int32Array.from(slotOf, (slot) => nodeOfSlot[slot]))
      expect(cost).toBeCloseTo(costOf(topology, nodeOf, objective), 6)
      expect(identityCost).toBeCloseTo(costOf(topology, nodeOfSlot, objective), 6)
      expect(cost).toBeLessThanOrEqual(identityCost)
    }),
    { numRuns: cases(200) },
  )
})

test('a mapping to begin with is refined, and refused where a node has too many vertices', () => {
  const low = Array.from({ length: 8 }, (_, v) => v)
  const topology = topologyFromEdges(16, { sources: low, destinations: low.map((v) => v + 8) })
  const nodeOfSlot = blocksOf(16, 2)
  const together = { start: 'by hand', nodeOf: Array.from({ length: 16 }, (_, v) => v % 8) }
  expect(mapTopology(topology, { nodeOfSlot, starts: [together], mostWork: 0 })).toMatchObject({
    ...{ cost: 0, start: 'by hand', nodeOf: Int32Array.from(together.nodeOf) },
  })
  const crowded = { start: 'crowded', nodeOf: Array(16).fill(0) }
  expect(() => mapTopology(topology, { nodeOfSlot, starts: [crowded] })).toThrowError(
    expect.objectContaining({ code: 'ERR_MACHINE' }),
  )
  expect(mapTopology(topology, { nodeOfSlot, starts: [communityStart(topology, nodeOfSlot)!] }).cost).toBe(0)
})

test('vertices that exchange nothing stay where they are', () => {
  const topology = topologyFromEdges(6, { sources: [], destinations: [] })
  for (const objective of mappingObjectives)
    expect(mapped(topology, { nodeOfSlot: [0, 0, 1, 1, 1, 1], objective })).toMatchObject({
      slotOf: Int32Array.of(0, 1, 2, 3, 4, 5),
      cost: 0,
      start: 'identity',
    })
})

test('vertices that only exchange with their partner are brought together', () => {
  // v and v + 8, on nodes of 2.
  const low = Array.from({ length: 8 }, (_, v) => v)
  const topology = topologyFromEdges(16, { sources: low, destinations: low.map((v) => v + 8) })
  for (const objective of mappingObjectives)
    expect(mapTopology(topology, { nodeOfSlot: blocksOf(16, 2), objective }).cost).toBe(0)
})

test.each([
  ['too few slots', { nodeOfSlot: [0, 0, 1, 1] }, 'ERR_MACHINE'],
  ['too many slots', { nodeOfSlot: [0, 0, 1, 1, 2, 2] }, 'ERR_MACHINE'],
  ['no node', { nodeOfSlot: [] }, 'ERR_MACHINE'],
  ['a negative node', { nodeOfSlot: [0, 0, -1, 1, 1] }, 'ERR_MACHINE'],
  ['a part of a node', { nodeOfSlot: [0, 0, 0.5, 1, 1] }, 'ERR_MACHINE'],
  ['a node beyond all limits', { nodeOfSlot: [0, 0, 2 ** 30, 1, 1] }, 'ERR_MACHINE'],
  [
    'another objective',
    { nodeOfSlot: [0, 0, 0, 1, 1], objective: 'hops' as MappingObjective },
    'ERR_ARGUMENT',
  ],
])('refuses %s', (_, options, code) => {
  const topology = topologyFromEdges(5, { sources: [0], destinations: [1] })
  expect(() => mapTopology(topology, options)).toThrowError(expect.objectContaining({ code }))
})

/** Weights of very different size: sums of them round. */
const weighted = fc.integer({ min: 4, max: 24 }).chain((ranks) =>
  fc.record({
    ranks: fc.constant(ranks),
    edges: fc.array(fc.tuple(fc.nat(ranks - 1), fc.nat(ranks - 1), fc.constantFrom(1, 3, 7, 1e18, 1e19)), {
      minLength: ranks,
      maxLength: 3 * ranks,
    }),
    cores: fc.integer({ min: 1, max: 6 }),
    seed: fc.integer({ min: 0, max: 100 }),
  }),
)

test('a mapping by weights of any size is never worse than identity, however their sums round', () => {
  fc.assert(
    fc.property(weighted, ({ ranks, edges, cores, seed }) => {
      const topology = topologyFromEdges(ranks, {
        sources: edges.map(([source]) => source),
        destinations: edges.map(([, destination]) => destination),
        weights: edges.map(([, , weight]) => weight),
      })
      const nodeOfSlot = blocksOf(ranks, cores)
      const { nodeOf, cost } = mapped(topology, { nodeOfSlot, objective: 'hop-bytes', seed })
      const counted = placementCosts(topology, nodeOf, hops).hopBytes
      expect(cost).toBe(counted)
      expect(counted).toBeLessThanOrEqual(placementCosts(topology, nodeOfSlot, hops).hopBytes)
    }),
    { numRuns: cases(200) },
  )
})
