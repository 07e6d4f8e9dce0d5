import { inNeighbors, mooreTopology, outNeighbors } from 'rankweave/topology'
import { describe, expect, test } from 'vitest'
import { coordsOf } from '../../../../src/topology/cart-shape.js'
import { checkTopology } from '../../../../src/topology/process-topology.js'
import { refusal } from '../../../support/refusal.js'
import { thrown } from '../thrown.js'

test('mooreTopology orders neighbors by offset, the last dimension fastest', () => {
  const topology = mooreTopology({ dims: [4, 5], radius: 1 })
  expect([...outNeighbors(topology, 6)]).toEqual([0, 1, 2, 5, 7, 10, 11, 12])
  expect([...outNeighbors(topology, 0)]).toEqual([19, 15, 16, 4, 1, 9, 5, 6])
  expect([...inNeighbors(topology, 0)]).toEqual([...outNeighbors(topology, 0)])
})

describe.each([true, false])(
  'mooreTopology, periodic %s: neighbors are those within the radius, once',
  (periodic) => {
    test.each([
      [[1], 1],
      [[2], 1],
      [[3], 2],
      [[7], 2],
      [[2, 3], 1],
      [[3, 4], 2],
      [[2, 2, 2], 3],
      [[1, 4, 3], 1],
    ])('%j with radius %i', (dims, radius) => {
      const topology = mooreTopology({ dims, radius, periodic })
      checkTopology(topology)
      const near = (a: number, b: number, extent: number) => {
        const distance = Math.abs(a - b)
        return (periodic ? Math.min(distance, extent - distance) : distance) <= radius
      }
      for (let p = 0; p < topology.ranks; p++) {
        const expected: number[] = []
        for (let q = 0; q < topology.ranks; q++) {
          const a = coordsOf({ dims }, p)
          const b = coordsOf({ dims }, q)
          if (p !== q && dims.every((extent, d) => near(a[d], b[d], extent))) expected.push(q)
        }
        expect([...outNeighbors(topology, p)].sort((a, b) => a - b)).toEqual(expected)
      }
    })
  },
)

test.each([
  [{ dims: [], radius: 1 }, 'ERR_DIMS', 'expected at least one dimension'],
  [{ dims: [0], radius: 1 }, 'ERR_DIMS', 'dimension 0'],
  [{ dims: [4, 4], radius: 0 }, 'ERR_TOPOLOGY', 'expected a radius of at least 1, got 0'],
  [{ dims: [4, 4], radius: 1.5 }, 'ERR_TOPOLOGY', 'got 1.5'],
  [{ dims: [100_000, 100_000], radius: 4 }, 'ERR_DIMS', 'expected at most 16777216 ranks'],
  [{ dims: [4096, 4096], radius: 4 }, 'ERR_TOPOLOGY', 'expected at most 134217728 edges, got 1342177280'],
])('mooreTopology rejects %j', (bad, code, message) => {
  expect(() => mooreTopology(bad)).toThrow(refusal(code, message))
})

test('mooreTopology rejects a missing argument', () => {
  expect(thrown(() => mooreTopology(undefined as never)).code).toBe('ERR_ARGUMENT')
})
