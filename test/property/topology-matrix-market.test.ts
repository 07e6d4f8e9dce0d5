import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  formatMatrixMarket,
  parseMatrixMarket,
  topologyFromMatrixMarket,
} from '../../src/topology/files/matrix-market.js'
import {
  compressTriplets,
  type SparseMatrix,
  topologyFromMatrix,
} from '../../src/topology/files/sparse-matrix.js'
import { inNeighbors } from '../../src/topology/neighbors.js'
import { checkTopology } from '../../src/topology/process-topology.js'
import { cases } from '../support/soak.js'
import { pipeOf } from '../support/sources.js'

const finite = fc.double({ noNaN: true, noDefaultInfinity: true })

interface Entry {
  readonly i: number
  readonly j: number
  readonly re: number
  readonly im: number
}

const shapes = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
const entriesIn = (rows: number, cols: number): fc.Arbitrary<Entry[]> =>
  fc.array(
    fc.record({
      i: fc.integer({ min: 0, max: rows - 1 }),
      j: fc.integer({ min: 0, max: cols - 1 }),
      re: finite,
      im: finite,
    }),
    { maxLength: 30 },
  )

const matrices: fc.Arbitrary<SparseMatrix> = shapes.chain(([rows, cols]) =>
  fc.tuple(entriesIn(rows, cols), fc.boolean()).map(([entries, complex]) => {
    const distinct = new Map(entries.map((entry) => [entry.i * cols + entry.j, entry]))
    const all = [...distinct.values()]
    return compressTriplets({
      rows,
      cols,
      count: all.length,
      row: Int32Array.from(all, ({ i }) => i),
      col: Int32Array.from(all, ({ j }) => j),
      values: Float64Array.from(all, ({ re }) => re),
      imag: complex ? Float64Array.from(all, ({ im }) => im) : null,
    })
  }),
)

test('matrices round-trip through text, bit for bit', () => {
  fc.assert(
    fc.property(matrices, (matrix) => {
      expect(parseMatrixMarket(formatMatrixMarket(matrix))).toEqual(matrix)
    }),
    { numRuns: cases(1000) },
  )
})

/** Dense reference: the meaning of the entries as the format defines it. */
function dense(size: number, symmetry: string, entries: readonly Entry[]): number[][] {
  const re = Array.from({ length: size * size }, () => 0)
  const im = Array.from({ length: size * size }, () => 0)
  const sign = { symmetric: [1, 1], 'skew-symmetric': [-1, -1], hermitian: [1, -1] }[symmetry]
  for (const entry of entries) {
    re[entry.i * size + entry.j] += entry.re
    im[entry.i * size + entry.j] += entry.im
    if (sign === undefined || entry.i === entry.j) continue
    re[entry.j * size + entry.i] += sign[0] * entry.re
    im[entry.j * size + entry.i] += sign[1] * entry.im
  }
  return [re, im]
}

test('every symmetry expands as defined, repeated entries summed', () => {
  const cases_ = fc
    .tuple(
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom('general', 'symmetric', 'skew-symmetric', 'hermitian'),
    )
    .chain(([size, symmetry]) =>
      fc.tuple(
        fc.constant(size),
        fc.constant(symmetry),
        entriesIn(size, size).map((entries) =>
          // Integers, so that sums do not depend on order.
          entries.map(({ i, j, re, im }) => ({ i, j, re: Math.trunc(re % 100), im: Math.trunc(im % 100) })),
        ),
      ),
    )
  fc.assert(
    fc.property(cases_, ([size, symmetry, raw]) => {
      const entries = raw.flatMap((entry) => {
        if (symmetry === 'general') return [entry]
        if (symmetry === 'skew-symmetric' && entry.i === entry.j) return []
        const lower = entry.i >= entry.j ? entry : { ...entry, i: entry.j, j: entry.i }
        return [symmetry === 'hermitian' && lower.i === lower.j ? { ...lower, im: 0 } : lower]
      })
      const text = [
        `%%MatrixMarket matrix coordinate complex ${symmetry}`,
        `${size} ${size} ${entries.length}`,
        ...entries.map(({ i, j, re, im }) => `${i + 1} ${j + 1} ${re} ${im}`),
      ].join('\n')
      const { rowStart, colIndex, values, imag } = parseMatrixMarket(text)
      const got = [new Array<number>(size * size).fill(0), new Array<number>(size * size).fill(0)]
      for (let i = 0; i < size; i++)
        for (let e = rowStart[i]; e < rowStart[i + 1]; e++) {
          if (e > rowStart[i]) expect(colIndex[e]).toBeGreaterThan(colIndex[e - 1])
          got[0][i * size + colIndex[e]] = values[e] + 0
          got[1][i * size + colIndex[e]] = imag![e] + 0
        }
      expect(got).toEqual(dense(size, symmetry, entries).map((part) => part.map((value) => value + 0)))
    }),
    { numRuns: cases(500) },
  )
})

/** From the definition: the owners of the row and of the column of every entry. */
function sourcesOf({ rows, cols, rowStart, colIndex }: SparseMatrix, ranks: number): number[][] {
  const ownerOf = (index: number, count: number) => {
    const size = Math.floor(count / ranks)
    const larger = count % ranks
    if (index < larger * (size + 1)) return Math.floor(index / (size + 1))
    return larger + Math.floor((index - larger * (size + 1)) / size)
  }
  const sources = Array.from({ length: ranks }, () => new Set<number>())
  for (let i = 0; i < rows; i++)
    for (const j of colIndex.subarray(rowStart[i], rowStart[i + 1])) {
      const [receiver, sender] = [ownerOf(i, rows), ownerOf(j, cols)]
      if (receiver !== sender) sources[receiver].add(sender)
    }
  return sources.map((set) => [...set].sort((a, b) => a - b))
}

test('rows cut receivers and columns cut senders of any matrix, over any number of ranks, also from its file', () => {
  fc.assert(
    fc.property(matrices, fc.integer({ min: 1, max: 16 }), (matrix, ranks) => {
      const topology = topologyFromMatrix(matrix, { ranks })
      checkTopology(topology)
      const lists = Array.from({ length: ranks }, (_, rank) => [...inNeighbors(topology, rank)])
      expect(lists).toEqual(sourcesOf(matrix, ranks))
      const text = formatMatrixMarket(matrix, { pattern: ranks % 2 === 0 })
      expect(topologyFromMatrixMarket(pipeOf(text, ranks), { ranks })).toEqual(topology)
    }),
    { numRuns: cases(500) },
  )
})
