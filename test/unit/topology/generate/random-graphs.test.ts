import { describe, expect, test } from 'vitest'
import { mulberry32 } from '../../../../src/base/random.js'
import {
  type PowerLaw,
  powerLawTopology,
  type RandomGeometric,
  type Rmat,
  randomGeometricTopology,
  rmatTopology,
  type SmallWorld,
  smallWorldTopology,
} from '../../../../src/topology/generate/random-graphs.js'
import { inNeighbors, outNeighbors } from '../../../../src/topology/neighbors.js'
import { checkTopology, type ProcessTopology } from '../../../../src/topology/process-topology.js'
import { topologyHash } from '../../../../src/topology/topology-hash.js'
import { thrown } from '../thrown.js'

const degrees = ({ ranks, outStart }: ProcessTopology) =>
  Array.from({ length: ranks }, (_, p) => outStart[p + 1] - outStart[p])

/** Sound, ascending, no self loops, no edge twice. */
function checkSimple(topology: ProcessTopology): void {
  checkTopology(topology)
  for (let p = 0; p < topology.ranks; p++) {
    const row = [...outNeighbors(topology, p)]
    expect(row).toEqual([...new Set(row)].filter((q) => q !== p).sort((a, b) => a - b))
  }
}

function checkSymmetric(topology: ProcessTopology): void {
  for (let p = 0; p < topology.ranks; p++)
    expect([...inNeighbors(topology, p)]).toEqual([...outNeighbors(topology, p)])
}

describe('randomGeometricTopology', () => {
  const brute = ({ ranks, radius, dimensions = 2, periodic = false, seed = 1 }: RandomGeometric) => {
    const next = mulberry32(seed)
    const places = Array.from({ length: ranks }, () =>
      Array.from({ length: dimensions }, () => next() / 2 ** 32),
    )
    return places.map((a) => {
      const near = places.filter((b) => {
        const apart = a.map((x, d) => Math.abs(x - b[d])).map((x) => (periodic ? Math.min(x, 1 - x) : x))
        return a !== b && apart.reduce((sum, x) => sum + x * x, 0) <= radius * radius
      })
      return near.length
    })
  }

  test.each<RandomGeometric>([
    { ranks: 1, radius: 1 },
    { ranks: 200, radius: 0.11 },
    { ranks: 200, radius: 0.5, periodic: true, seed: 2 },
    { ranks: 150, radius: 0.34, dimensions: 3, periodic: true, seed: 3 },
    { ranks: 150, radius: 0.3, dimensions: 3, seed: 4 },
    { ranks: 100, radius: 0.05, dimensions: 1, seed: 5 },
    { ranks: 60, radius: 1, seed: 6 },
  ])('%j: neighbors equal those of the comparison of all pairs', (options) => {
    const topology = randomGeometricTopology(options)
    checkSimple(topology)
    checkSymmetric(topology)
    const ascending = (a: number, b: number) => a - b
    expect(degrees(topology).sort(ascending)).toEqual(brute(options).sort(ascending))
  })

  test('nearby ranks have nearby numbers', () => {
    const topology = randomGeometricTopology({ ranks: 1024, radius: 0.03 })
    let near = 0
    for (let p = 0; p < 1024; p++)
      for (const q of outNeighbors(topology, p)) if (Math.abs(p - q) < 128) near++
    expect(near).toBeGreaterThan(0.9 * topology.outRank.length)
  })
})

describe('smallWorldTopology', () => {
  test('without rewiring is a ring', () => {
    const topology = smallWorldTopology({ ranks: 7, degree: 4, rewiring: 0 })
    expect([...outNeighbors(topology, 0)]).toEqual([1, 2, 5, 6])
    expect(degrees(topology)).toEqual(new Array(7).fill(4))
  })

  test.each<SmallWorld>([
    { ranks: 3, degree: 2, rewiring: 1 },
    { ranks: 8, degree: 6, rewiring: 1, seed: 3 },
    { ranks: 200, degree: 8, rewiring: 0.3, seed: 4 },
    { ranks: 200, degree: 2, rewiring: 1, seed: 5 },
    { ranks: 30, degree: 28, rewiring: 0.9, seed: 6 },
  ])('%j: as many edges as the ring, each once', (options) => {
    const topology = smallWorldTopology(options)
    checkSimple(topology)
    checkSymmetric(topology)
    expect(topology.outRank).toHaveLength(options.ranks * options.degree)
  })

  test('the share of edges that left the ring is the rewiring probability', () => {
    const topology = smallWorldTopology({ ranks: 4000, degree: 6, rewiring: 0.25 })
    let left = 0
    for (let p = 0; p < 4000; p++)
      for (const q of outNeighbors(topology, p))
        if (Math.min((q - p + 4000) % 4000, (p - q + 4000) % 4000) > 3) left++
    expect(left / topology.outRank.length).toBeGreaterThan(0.23)
    expect(left / topology.outRank.length).toBeLessThan(0.27)
  })
})

describe('powerLawTopology', () => {
  test.each<PowerLaw>([
    { ranks: 2, degree: 1 },
    { ranks: 500, degree: 6, gamma: 2.1, seed: 2 },
    { ranks: 500, degree: 40.5, gamma: 3, seed: 3 },
  ])('%j: simple and symmetric', (options) => {
    const topology = powerLawTopology(options)
    checkSimple(topology)
    checkSymmetric(topology)
  })

  test('degrees decrease with the exponent', () => {
    const ranks = 1 << 16
    const topology = powerLawTopology({ ranks, degree: 10, gamma: 2.5 })
    const degree = degrees(topology)
    expect(topology.outRank.length / ranks).toBeGreaterThan(9)
    // The share of degrees above x falls like x^(1 - gamma): from 16 to 64 by a factor of 8.
    const above = (x: number) => degree.filter((d) => d > x).length
    const fall = above(16) / above(64)
    expect(fall).toBeGreaterThan(6.5)
    expect(fall).toBeLessThan(9.5)
    expect(degree[0]).toBe(Math.max(...degree))
  })
})

describe('rmatTopology', () => {
  test.each<Rmat>([
    { ranks: 1, degree: 3 },
    { ranks: 256, degree: 16 },
    { ranks: 2 ** 15, degree: 2, seed: 2 },
  ])('%j: simple', (options) => {
    checkSimple(rmatTopology(options))
  })

  test('every quarter has its share of the edges', () => {
    const topology = rmatTopology({ ranks: 2 ** 12, degree: 4, quarters: [0.4, 0.3, 0.2, 0.1] })
    const shares = [0, 0, 0, 0]
    for (let p = 0; p < 2 ** 12; p++)
      for (const q of outNeighbors(topology, p))
        shares[(p >> 11) * 2 + (q >> 11)] += 1 / topology.outRank.length
    for (const [i, share] of [0.4, 0.3, 0.2, 0.1].entries())
      expect(Math.abs(shares[i] - share)).toBeLessThan(0.02)
  })

  test('a quarter may have all edges', () => {
    expect(rmatTopology({ ranks: 8, degree: 4, quarters: [1, 0, 0, 0] }).outRank).toHaveLength(0)
    expect([...rmatTopology({ ranks: 8, degree: 4, quarters: [0, 1, 0, 0] }).outRank]).toEqual([7])
  })
})

// Any change of these changes every plan made of such a topology.
test('random topologies of the same seed are the same on every machine', () => {
  const first = (topology: ProcessTopology) => topologyHash(topology).slice(0, 16)
  expect({
    rgg: first(randomGeometricTopology({ ranks: 1000, radius: 0.05, seed: 7 })),
    ws: first(smallWorldTopology({ ranks: 1000, degree: 8, rewiring: 0.1, seed: 7 })),
    powerlaw: first(powerLawTopology({ ranks: 1000, degree: 8, seed: 7 })),
    rmat: first(rmatTopology({ ranks: 1024, degree: 8, seed: 7 })),
  }).toMatchInlineSnapshot(`
    {
      "powerlaw": "9b4fdf4b6751d229",
      "rgg": "efabf9fcc804cbf9",
      "rmat": "2052c015a975d65d",
      "ws": "0e023da5f8c2a988",
    }
  `)
  expect(first(rmatTopology({ ranks: 1024, degree: 8, seed: 7 }))).not.toBe(
    first(rmatTopology({ ranks: 1024, degree: 8, seed: 8 })),
  )
})

test.each([
  () => randomGeometricTopology({ ranks: 8, radius: 0 }),
  () => randomGeometricTopology({ ranks: 8, radius: Number.NaN }),
  () => randomGeometricTopology({ ranks: 8, radius: 1.1 }),
  () => randomGeometricTopology({ ranks: 8, radius: 0.1, dimensions: 4 }),
  () => randomGeometricTopology({ ranks: 8, radius: 0.1, seed: -1 }),
  () => randomGeometricTopology({ ranks: 2 ** 24, radius: 1 }),
  () => smallWorldTopology({ ranks: 8, degree: 3, rewiring: 0 }),
  () => smallWorldTopology({ ranks: 8, degree: 8, rewiring: 0 }),
  () => smallWorldTopology({ ranks: 8, degree: 0, rewiring: 0 }),
  () => smallWorldTopology({ ranks: 8, degree: 2, rewiring: 1.1 }),
  () => smallWorldTopology({ ranks: 8, degree: 2, rewiring: 0, seed: 0.5 }),
  () => smallWorldTopology({ ranks: 2 ** 24, degree: 2 ** 20, rewiring: 0 }),
  () => powerLawTopology({ ranks: 8, degree: 0 }),
  () => powerLawTopology({ ranks: 8, degree: 8 }),
  () => powerLawTopology({ ranks: 8, degree: 2, gamma: 2 }),
  () => powerLawTopology({ ranks: 8, degree: 2, gamma: Infinity }),
  () => powerLawTopology({ ranks: 2 ** 24, degree: 2 ** 10 }),
  () => rmatTopology({ ranks: 12, degree: 2 }),
  () => rmatTopology({ ranks: 8, degree: -1 }),
  () => rmatTopology({ ranks: 8, degree: Number.NaN }),
  () => rmatTopology({ ranks: 8, degree: 2, quarters: [0.5, 0.5, 0.5, 0.5] }),
  () => rmatTopology({ ranks: 8, degree: 2, quarters: [1.5, -0.5, 0, 0] }),
  () => rmatTopology({ ranks: 2 ** 24, degree: 2 ** 10 }),
])('random topologies reject %s', (make) => {
  expect(thrown(make).code).toBe('ERR_TOPOLOGY')
})
