import { cartTopology, relabelledTopology, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { checkTopology } from '../../../../src/topology/process-topology.js'
import { refusal } from '../../../support/refusal.js'

describe('relabelledTopology', () => {
  it('has the same edges between other ranks, in the order of lists, with their weights', () => {
    const edges = { sources: [0, 0, 1, 2, 2], destinations: [1, 1, 2, 0, 2], weights: [1, 2, 3, 4, 5] }
    const slotOf = Int32Array.of(2, 0, 1)
    const relabelled = relabelledTopology(topologyFromEdges(3, edges), slotOf)
    const named = (ranks: number[]) => ranks.map((rank) => slotOf[rank])
    const { sources, destinations, weights } = edges
    expect(relabelled).toEqual(
      topologyFromEdges(3, { sources: named(sources), destinations: named(destinations), weights }),
    )
    checkTopology(relabelled)
  })

  it('makes a plain graph of a grid', () => {
    const grid = cartTopology({ dims: [2, 3], periods: [true, false] })
    const relabelled = relabelledTopology(grid, Int32Array.of(5, 4, 3, 2, 1, 0))
    expect(relabelled).toMatchObject({ ranks: 6, cart: null, pairing: 'occurrence' })
    checkTopology(relabelled)
  })

  it.each([
    ['too few slots', [0, 1], 'expected the slots of 3 ranks, got 2'],
    ['a slot twice', [0, 1, 1], 'got 1 twice'],
    ['a slot that does not exist', [0, 1, 3], 'got 3'],
  ])('refuses %s', (_, slots, message) => {
    const topology = topologyFromEdges(3, { sources: [], destinations: [] })
    expect(() => relabelledTopology(topology, Int32Array.from(slots))).toThrow(
      refusal('ERR_MAPPING', message),
    )
  })
})
