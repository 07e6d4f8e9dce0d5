import { describe, expect, test } from 'vitest'
import { checkTopology } from '../../../../src/topology/check-topology.js'
import { parseMatrixMarket } from '../../../../src/topology/files/matrix-market.js'
import { topologyFromMatrix } from '../../../../src/topology/files/matrix-topology.js'
import {
  compressTriplets,
  type SparseMatrix,
  type Triplets,
} from '../../../../src/topology/files/sparse-matrix.js'
import { inNeighbors, outNeighbors } from '../../../../src/topology/neighbors.js'
import { readMatrix } from '../../../support/matrices.js'
import { thrown } from '../thrown.js'

const rankCounts = [1, 2, 3, 4, 7, 8, 16]

function matrixOf(rows: number, cols: number, entries: readonly (readonly [number, number])[]): SparseMatrix {
  return compressTriplets({
    rows,
    cols,
    count: entries.length,
    row: Int32Array.from(entries, ([i]) => i),
    col: Int32Array.from(entries, ([, j]) => j),
    values: new Float64Array(entries.length).fill(1),
    imag: null,
  })
}

/** From the definition: the owners of the row and the column of every entry. */
function sourcesOf(matrix: SparseMatrix, ranks: number): number[][] {
  const ownerOf = (index: number, count: number) => {
    const size = Math.floor(count / ranks)
    const larger = count % ranks
    return index < larger * (size + 1)
      ? Math.floor(index / (size + 1))
      : larger + Math.floor((index - larger * (size + 1)) / size)
  }
  const sources = Array.from({ length: ranks }, () => new Set<number>())
  for (let i = 0; i < matrix.rows; i++)
    for (let e = matrix.rowStart[i]; e < matrix.rowStart[i + 1]; e++) {
      const receiver = ownerOf(i, matrix.rows)
      const sender = ownerOf(matrix.colIndex[e], matrix.cols)
      if (receiver !== sender) sources[receiver].add(sender)
    }
  return sources.map((set) => [...set].sort((a, b) => a - b))
}

function expectTopology(matrix: SparseMatrix, ranks: number): void {
  const topology = topologyFromMatrix(matrix, { ranks })
  checkTopology(topology)
  const sources = sourcesOf(matrix, ranks)
  for (let r = 0; r < ranks; r++) {
    expect([...inNeighbors(topology, r)]).toEqual(sources[r])
    const destinations = sources.flatMap((row, receiver) => (row.includes(r) ? [receiver] : []))
    expect([...outNeighbors(topology, r)]).toEqual(destinations)
  }
}

test('topologyFromMatrix with one row per rank: column j of A is the out-list of rank j', () => {
  const topology = topologyFromMatrix(
    matrixOf(4, 4, [
      [0, 0],
      [3, 1],
      [2, 1],
      [1, 1],
      [0, 3],
    ]),
    { ranks: 4 },
  )
  expect([...outNeighbors(topology, 0)]).toEqual([])
  expect([...outNeighbors(topology, 1)]).toEqual([2, 3])
  expect([...outNeighbors(topology, 3)]).toEqual([0])
})

test('topologyFromMatrix makes an edge of an explicit zero', () => {
  const text = '%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 0\n'
  expect(topologyFromMatrix(parseMatrixMarket(text), { ranks: 2 }).outRank).toEqual(Int32Array.of(1))
})

test.each(rankCounts)(
  'rectangular matrices over %i ranks: rows cut receivers, columns cut senders',
  (ranks) => {
    const tall = matrixOf(11, 3, [
      [0, 2],
      [10, 0],
      [10, 2],
      [5, 1],
      [4, 1],
      [9, 2],
    ])
    const wide = matrixOf(2, 13, [
      [0, 12],
      [1, 0],
      [1, 5],
      [0, 6],
      [1, 12],
    ])
    expectTopology(tall, ranks)
    expectTopology(wide, ranks)
  },
)

test('topologyFromMatrix leaves ranks beyond the rows and columns isolated', () => {
  const topology = topologyFromMatrix(
    matrixOf(2, 3, [
      [0, 2],
      [1, 0],
    ]),
    { ranks: 5 },
  )
  checkTopology(topology)
  expect([0, 1, 2, 3, 4].map((r) => [...inNeighbors(topology, r)])).toEqual([[2], [0], [], [], []])
})

test('topologyFromMatrix of a matrix without rows has no edges', () => {
  expect(topologyFromMatrix(matrixOf(0, 0, []), { ranks: 3 }).inRank).toHaveLength(0)
})

test.each([0, 1.5, 2 ** 25])('topologyFromMatrix rejects %s ranks', (ranks) => {
  expect(thrown(() => topologyFromMatrix(matrixOf(1, 1, []), { ranks })).code).toBe('ERR_TOPOLOGY')
})

describe('topologyFromMatrix of real matrices', () => {
  // Rows, columns, entries of both triangles.
  const matrices = [
    ['494_bus', 494, 494, 1666],
    ['ash292', 292, 292, 2208],
    ['bcspwr10', 5300, 5300, 21842],
    ['bp_1600', 822, 822, 4841],
    ['can_1072', 1072, 1072, 12444],
    ['dwt_193', 193, 193, 3493],
    ['dwt_2680', 2680, 2680, 25026],
    ['mbeacxc', 496, 496, 49920],
  ] as const

  describe.each(matrices)('%s', (name, rows, cols, entries) => {
    const matrix = readMatrix(name)

    test('has the published size', () => {
      expect([matrix.rows, matrix.cols, matrix.values.length]).toEqual([rows, cols, entries])
    })

    test.each([...rankCounts, 32, 64])('over %i ranks', (ranks) => expectTopology(matrix, ranks))
  })

  test('ash292 and dwt_193 with one rank per row have the mean degrees of the paper', () => {
    const degree = (name: string, ranks: number) => {
      return topologyFromMatrix(readMatrix(name), { ranks }).outRank.length / ranks
    }
    expect(degree('ash292', 292)).toBeCloseTo(6.6, 1)
    expect(degree('dwt_193', 193)).toBeCloseTo(17.1, 1)
  })
})

const single: Triplets = {
  rows: 2,
  cols: 3,
  count: 1,
  row: Int32Array.of(1),
  col: Int32Array.of(2),
  values: Float64Array.of(5),
  imag: null,
}

test('compressTriplets takes longer arrays than its count', () => {
  const matrix = compressTriplets({ ...single, row: Int32Array.of(1, 7), col: Int32Array.of(2, -1) })
  expect([...matrix.rowStart, ...matrix.colIndex, ...matrix.values]).toEqual([0, 0, 1, 2, 5])
})

test.each<Partial<Triplets>>([
  { rows: 1 },
  { cols: 2 },
  { rows: 1.5 },
  { cols: 2 ** 31 },
  { count: 2 },
  { count: -1 },
  { row: Int32Array.of(-1) },
  { col: Int32Array.of(3) },
  { row: new Int32Array(0) },
  { values: new Float64Array(0) },
  { imag: undefined as never },
  { imag: [0] as never },
  { imag: new Float64Array(0) },
])('compressTriplets refuses entries that do not fit: %j', (changed) => {
  expect(() => compressTriplets({ ...single, ...changed })).toThrow(
    expect.objectContaining({ code: 'ERR_ARGUMENT' }),
  )
})
