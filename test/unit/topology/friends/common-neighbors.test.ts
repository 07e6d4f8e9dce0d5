import { buildTopology, commonNeighbors } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { distinctOut } from '../../../../src/topology/neighbors.js'
import { thrown } from '../thrown.js'

/** Every pair compared, as sets. */
function brute(spec: string, nodeOf: Int32Array | null): { pairs: number; histogram: number[] } {
  const { start, rank } = distinctOut(buildTopology(spec))
  const ranks = start.length - 1
  const sets = Array.from({ length: ranks }, (_, p) => new Set(rank.subarray(start[p], start[p + 1])))
  const histogram: number[] = []
  let pairs = 0
  for (let p = 0; p < ranks; p++)
    for (let f = p + 1; f < ranks; f++) {
      if (nodeOf !== null && nodeOf[p] !== nodeOf[f]) continue
      const common = [...sets[p]].filter((q) => sets[f].has(q)).length
      histogram[common] = (histogram[common] ?? 0) + 1
      pairs++
    }
  return { pairs, histogram: Array.from(histogram, (count) => count ?? 0) }
}

// Sparse ones are counted through neighbors, dense ones by bitsets, within nodes by scanning the node.
test.each([
  'moore:9x9:r=2',
  'er:60:d=0.02',
  'er:60:d=0.7',
  'powerlaw:80:d=6',
  'cart:2x5:periodic',
  'er:5:d=0',
])('commonNeighbors of %s equals the comparison of every pair', (spec) => {
  const topology = buildTopology(spec)
  const byThrees = Int32Array.from({ length: topology.ranks }, (_, p) => Math.floor(p / 3) % 7)
  for (const nodeOf of [null, byThrees]) {
    const { pairs, histogram } = brute(spec, nodeOf)
    const sum = histogram.reduce((total, count, c) => total + count * c, 0)
    expect(commonNeighbors(topology, { nodeOf })).toEqual({
      kind: 'counted',
      pairs,
      histogram: Float64Array.from(histogram.length === 0 ? [0] : histogram),
      mean: sum / pairs,
      max: Math.max(0, histogram.length - 1),
    })
  }
})

test('commonNeighbors of a single rank counts no pairs', () => {
  expect(commonNeighbors(buildTopology('cart:1'))).toEqual({
    kind: 'counted',
    pairs: 0,
    histogram: Float64Array.of(0),
    mean: 0,
    max: 0,
  })
})

test('commonNeighbors stops before counting beyond the limit, and reports each rank', () => {
  const topology = buildTopology('moore:9x9:r=2')
  expect(commonNeighbors(topology, { workLimit: 100 })).toEqual({
    kind: 'beyond-limit',
    reason: expect.stringMatching(/^\d+ steps would be needed, more than 100$/),
  })
  const seen: number[] = []
  commonNeighbors(topology, { onRank: (done) => seen.push(done) })
  expect(seen.at(-1)).toBe(81)
})

test('commonNeighbors rejects nodes for another number of ranks', () => {
  expect(thrown(() => commonNeighbors(buildTopology('cart:4'), { nodeOf: new Int32Array(3) })).code).toBe(
    'ERR_ARGUMENT',
  )
})
