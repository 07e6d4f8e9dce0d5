import { clos, hopsBetween, torus } from 'rankweave/machine'
import { buildTopology, mapTopology, placementCosts } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { drawnPermutation, mulberry32 } from '../../../../src/base/random.js'
import { bisect, refinedBisection } from '../../../../src/topology/mapping/bisection.js'
import { byDualBisection, nearOrder } from '../../../../src/topology/mapping/objective-problems.js'
import {
  exchangedAmounts,
  integerAmounts,
  type WeightedGraph,
} from '../../../../src/topology/mapping/weighted-graph.js'

const upTo = (n: number) => Int32Array.from({ length: n }, (_, i) => i)
const filled = (n: number, slots: number) => new Int32Array(n).fill(slots)

/** Distances of nodes whose numbers say nothing. */
function shuffled(distance: (a: number, b: number) => number, nodes: number) {
  const numberOf = drawnPermutation(mulberry32(5), nodes)
  return (a: number, b: number) => distance(numberOf[a], numberOf[b])
}

describe('the order of near nodes', () => {
  it.each([
    [[8, 8], 16],
    [[8, 8, 4], 64],
    [[6, 10], 12],
  ])('parts a torus of %j by two planes', (dims, links) => {
    const nodes = dims.reduce((product, extent) => product * extent)
    const distance = shuffled(hopsBetween(torus({ dims, cores: 1 })), nodes)
    const order = nearOrder({ capacities: filled(nodes, 1), distance }, mulberry32(1))!
    expect(order.toSorted()).toEqual(upTo(nodes))
    const [low, high] = [order.subarray(0, nodes / 2), order.subarray(nodes / 2)]
    let parted = 0
    for (const a of low) for (const b of high) if (distance(a, b) === 1) parted++
    expect(parted).toBe(links)
  })

  it('parts no switch of a tree before all are parted from each other', () => {
    const distance = shuffled(hopsBetween(clos({ radix: 8, levels: 3, nodes: 64 })), 64)
    const order = nearOrder({ capacities: filled(64, 1), distance }, mulberry32(1))!
    for (const size of [4, 16])
      for (const [place, node] of order.entries()) {
        const first = order[place - (place % size)]
        expect(distance(node, first)).toBeLessThanOrEqual(size === 4 ? 1 : 3)
      }
  })

  it('has the nodes with slots only, by numbers where they are many', () => {
    const line = (a: number, b: number) => Math.abs(a - b)
    const capacities = upTo(5000).map((node) => node % 3)
    const order = nearOrder({ capacities, distance: line }, mulberry32(1))!
    expect(order.toSorted()).toEqual(upTo(5000).filter((node) => node % 3 > 0))
    expect(Math.max(...order.subarray(0, 1600))).toBeLessThan(Math.min(...order.subarray(1700)))
  })

  it.each([
    ['no node', [], () => 1],
    ['two nodes', [3, 4], (a: number, b: number) => Math.abs(a - b)],
    ['nodes that are equally far', [1, 2, 3, 4], (a: number, b: number) => (a === b ? 0 : 7)],
    ['nodes without a distance', [1, 2, 3, 4], () => 0],
  ])('is not made of %s', (_, slots, distance) => {
    expect(nearOrder({ capacities: Int32Array.from(slots), distance }, mulberry32(1))).toBeNull()
  })
})

describe('dual bisection', () => {
  const distance = hopsBetween(torus({ dims: [4, 3], cores: 1 }))
  it.each([1, 2, 3])('fills uneven nodes exactly, and the same each time', (seed) => {
    const capacities = Int32Array.of(3, 0, 5, 1, 8, 2, 0, 4, 4, 7, 1, 5)
    const graph = integerAmounts(exchangedAmounts(buildTopology(`er:40:d=0.1:seed=${seed}`)))
    const run = () => {
      const next = mulberry32(seed)
      const order = nearOrder({ capacities, distance }, next)!
      return byDualBisection(graph, { capacities, distance, order }, next)
    }
    const nodeOf = run()
    expect(capacities.map((_, node) => nodeOf.filter((each) => each === node).length)).toEqual(capacities)
    expect(run()).toEqual(nodeOf)
  })

  it('brings neighbors of a ring to nodes that are near in distance, not in number', () => {
    const far = shuffled(hopsBetween(torus({ dims: [16], cores: 1 })), 16)
    const topology = buildTopology('cart:64:periodic')
    const capacities = filled(16, 4)
    const graph = integerAmounts(exchangedAmounts(topology))
    const next = mulberry32(1)
    const order = nearOrder({ capacities, distance: far }, next)!
    const nodeOf = byDualBisection(graph, { capacities, distance: far, order }, next)
    expect(placementCosts(topology, nodeOf, far).hopBytes).toBe(32)
  })
})

describe('a bisection with pulls', () => {
  /** A path of 8, of which the ends are pulled. */
  const path: WeightedGraph = {
    start: Int32Array.of(0, 1, 3, 5, 7, 9, 11, 13, 14),
    to: Int32Array.of(1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 6),
    weight: filled(14, 2),
    size: filled(8, 1),
    pull: Int32Array.of(-3, 0, 0, 0, 0, 0, 0, 3),
  }

  it('puts each end where it is pulled to', () => {
    for (let seed = 0; seed < 10; seed++)
      expect(bisect(path, 4, mulberry32(seed))).toEqual(Uint8Array.of(1, 1, 1, 1, 0, 0, 0, 0))
  })

  it('is refined without another size, and never costs more', () => {
    const costOf = (part: Uint8Array) => {
      let cost = 0
      for (let v = 0; v < 8; v++) {
        cost += part[v] * path.pull![v]
        if (v > 0 && part[v] !== part[v - 1]) cost += 2
      }
      return cost
    }
    for (let bits = 0; bits < 256; bits++) {
      const part = Uint8Array.from({ length: 8 }, (_, v) => (bits >> v) & 1)
      const wanted = part.filter((side) => side === 0).length
      const refined = refinedBisection(path, part, wanted)
      expect(refined.filter((side) => side === 0).length).toBe(wanted)
      expect(costOf(refined)).toBeLessThanOrEqual(costOf(part))
    }
  })
})

describe('a mapping by hop-bytes', () => {
  it('is as good as any of six vertices on a line', () => {
    const line = (a: number, b: number) => Math.abs(a - b)
    for (let seed = 0; seed < 5; seed++) {
      const topology = buildTopology(`er:6:d=0.4:seed=${seed}`)
      const all = permutations([0, 1, 2, 3, 4, 5])
      const least = Math.min(...all.map((nodeOf) => placementCosts(topology, nodeOf, line).hopBytes))
      const options = { nodeOfSlot: upTo(6), objective: 'hop-bytes', distance: line } as const
      expect(mapTopology(topology, options).cost).toBe(least)
    }
  })
})

function permutations(values: readonly number[]): number[][] {
  if (values.length === 0) return [[]]
  return values.flatMap((first) =>
    permutations(values.filter((value) => value !== first)).map((rest) => [first, ...rest]),
  )
}
