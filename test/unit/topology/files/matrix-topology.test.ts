import { compressTriplets, outNeighbors, type Triplets, topologyFromMatrix } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { parseMatrixMarket } from '../../../../src/topology/files/matrix-market.js'
import { thrown } from '../thrown.js'

const matrixOf = (size: string, ...entries: string[]) =>
  parseMatrixMarket(['%%MatrixMarket matrix coordinate real general', size, ...entries, ''].join('\n'))

test('topologyFromMatrix with one row per rank: column j of A is the out-list of rank j, explicit zeros too', () => {
  const matrix = matrixOf('4 4 5', '1 1 1', '4 2 1', '3 2 1', '2 2 1', '1 4 0')
  const topology = topologyFromMatrix(matrix, { ranks: 4 })
  const lists = [0, 1, 2, 3].map((rank) => [...outNeighbors(topology, rank)])
  expect(lists).toEqual([[], [2, 3], [], [0]])
})

test.each([0, 1.5, 2 ** 25])('topologyFromMatrix rejects %s ranks', (ranks) => {
  expect(thrown(() => topologyFromMatrix(matrixOf('1 1 0'), { ranks })).code).toBe('ERR_TOPOLOGY')
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
