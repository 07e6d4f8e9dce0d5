import { expect, test } from 'vitest'
import { mulberry32 } from '../../../src/base/random.js'
import { distinctEdges } from '../../../src/topology/distinct-edges.js'

// Up to 2^14 ranks edges are bits, above they are listed.
test.each([1, 33, 2 ** 14, 2 ** 14 + 1, 2 ** 20])(
  'distinctEdges of %i ranks holds every edge once, rows ascend',
  (ranks) => {
    const draw = mulberry32(ranks)
    const below = (n: number) => Math.floor((draw() / 2 ** 32) * n)
    const edges = distinctEdges(ranks)
    const expected = new Set<number>()
    // Half of them near rank 0, so that most of those repeat; more than the initial capacity of listed edges.
    for (let e = 0; e < 100_000; e++) {
      const [from, to] = [0, 1].map(() => below(e % 2 === 0 ? Math.min(ranks, 100) : ranks))
      edges.add(from, to)
      expected.add(from * ranks + to)
    }
    const { start, rank } = edges.toRows()
    const got: number[] = []
    for (let from = 0; from < ranks; from++)
      for (let e = start[from]; e < start[from + 1]; e++) got.push(from * ranks + rank[e])
    expect(Float64Array.from(got)).toEqual(Float64Array.from(expected).sort())
    expect(start).toHaveLength(ranks + 1)
  },
)
