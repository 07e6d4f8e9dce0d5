import { type ProcessTopology, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { cachedTopology } from '../../../src/topology-communicator/plan/neighborhood.js'

const ring = (ranks: number, weight = 1): ProcessTopology => {
  const sources = Int32Array.from({ length: ranks }, (_, rank) => rank)
  const destinations = sources.map((rank) => (rank + 1) % ranks)
  return topologyFromEdges(ranks, { sources, destinations, weights: new Float64Array(ranks).fill(weight) })
}

describe('cachedTopology', () => {
  it('returns one object for equal topologies', () => {
    const first = cachedTopology(ring(5))
    expect(cachedTopology(ring(5))).toBe(first)
  })

  it.each([
    ['ranks', ring(6)],
    ['weights', ring(5, 2)],
    ['the sign of a weight of zero', ring(5, -0)],
  ])('distinguishes topologies that differ in %s', (_, other) => {
    cachedTopology(ring(5))
    cachedTopology(ring(5, 0))
    expect(cachedTopology(other)).toBe(other)
  })

  it('retains the last four topologies', () => {
    const made = [10, 11, 12, 13, 14].map((ranks) => cachedTopology(ring(ranks)))
    expect(cachedTopology(ring(11))).toBe(made[1])
    expect(cachedTopology(ring(14))).toBe(made[4])
    expect(cachedTopology(ring(10))).not.toBe(made[0])
  })
})
