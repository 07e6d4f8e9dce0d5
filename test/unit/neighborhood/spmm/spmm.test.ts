import { run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { randomDense, toDense } from '../../../../src/neighborhood/spmm/dense-matrix.js'
import { localBlock, multiplyInto } from '../../../../src/neighborhood/spmm/local-block.js'
import { sliceRows } from '../../../../src/neighborhood/spmm/matrix-rows.js'
import { stencilMatrix } from '../../../../src/neighborhood/spmm/sample-matrices.js'
import { maxRelativeError, serialProduct } from '../../../../src/neighborhood/spmm/serial.js'
import { checkProblem, type SpmmProblem, spmm } from '../../../../src/neighborhood/spmm/spmm.js'
import { topologyFromMatrix } from '../../../../src/topology/matrix/matrix-topology.js'
import { compressTriplets, type SparseMatrix } from '../../../../src/topology/matrix/sparse-matrix.js'

function matrix(rows: number, cols: number, entries: readonly [number, number, number][]): SparseMatrix {
  return compressTriplets({
    rows,
    cols,
    count: entries.length,
    row: Int32Array.from(entries, ([row]) => row),
    col: Int32Array.from(entries, ([, col]) => col),
    values: Float64Array.from(entries, ([, , value]) => value),
    imag: null,
  })
}

// 4 x 5: row 2 is empty, column 1 is empty.
const a = matrix(4, 5, [
  [0, 0, 2],
  [0, 4, -1],
  [1, 2, 0.5],
  [3, 0, 3],
  [3, 3, 10],
  [3, 4, 100],
])

describe('serial', () => {
  it('serialProduct multiplies by the definition', () => {
    const b = Float64Array.from({ length: 10 }, (_, i) => i + 1)
    // Rows of B: 1 2, 3 4, 5 6, 7 8, 9 10.
    expect([...serialProduct(a, b, 2)]).toEqual([-7, -6, 2.5, 3, 0, 0, 973, 1086])
  })

  it('maxRelativeError returns the largest relative error', () => {
    const error = (actual: number[], expected: number[]) =>
      maxRelativeError(Float64Array.from(actual), Float64Array.from(expected))
    expect(error([], [])).toBe(0)
    expect(error([1, 0, Number.NaN], [1, -0, Number.NaN])).toBe(0)
    expect(error([1, 2.5], [1, 2])).toBe(0.25)
    expect(error([0.5], [0])).toBe(0.5)
    expect(error([Number.NaN], [1])).toBe(Number.POSITIVE_INFINITY)
    expect(error([1], [Number.NaN])).toBe(Number.POSITIVE_INFINITY)
    expect(error([Number.POSITIVE_INFINITY], [1])).toBe(Number.POSITIVE_INFINITY)
    expect(error([1], [1, 2])).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('matrices', () => {
  it('toDense fills in zeros', () => {
    const { rows, cols, values } = toDense(a)
    expect([rows, cols]).toEqual([4, 5])
    expect([...values.subarray(15)]).toEqual([3, 0, 0, 10, 100])
  })

  it('sliceRows returns views of the entries', () => {
    const rows = sliceRows(a, 1, 4)
    expect(rows).toMatchObject({ rows: 3, cols: 5 })
    expect([...rows.rowStart]).toEqual([0, 1, 1, 4])
    expect([...rows.colIndex]).toEqual([2, 0, 3, 4])
    expect(rows.values.buffer).toBe(a.values.buffer)
  })

  it('randomDense returns the same numbers for the same seed', () => {
    const shape = { side: 12, radius: 2, density: 0.5, seed: 3 }
    expect(stencilMatrix(shape)).toEqual(stencilMatrix(shape))
    expect(stencilMatrix(shape)).not.toEqual(stencilMatrix({ ...shape, seed: 4 }))
    expect(randomDense(3, 2, 1)).toEqual(randomDense(3, 2, 1))
  })

  it('stencilMatrix couples points within its radius', () => {
    const { rows, rowStart, colIndex } = stencilMatrix({ side: 6, radius: 1, density: 1, seed: 1 })
    expect([rows, rowStart[36]]).toEqual([36, 4 * 4 + 16 * 6 + 16 * 9])
    expect([...colIndex.subarray(rowStart[7], rowStart[8])]).toEqual([0, 1, 2, 6, 7, 8, 12, 13, 14])
  })
})

describe('local block', () => {
  // B's 5 rows on 3 ranks: 0-1, 2-3, 4.
  const owners = Int32Array.of(0, 2, 4, 5)

  it('renumbers columns to own rows, then the halo in the order of the sources', () => {
    const block = localBlock(sliceRows(a, 3, 4), owners, 1, [2, 0])
    // Columns 0, 3, 4: rank 0's first row lies behind own (2) and rank 2's (1); own second row; rank 2's.
    expect([...block.operandRow]).toEqual([3, 1, 2])
    expect([...block.haloCounts]).toEqual([1, 2])
    expect([block.ownRows, block.haloRows]).toEqual([2, 3])
  })

  it('rejects a column whose owner is not a source', () => {
    expect(() => localBlock(sliceRows(a, 3, 4), owners, 1, [0])).toThrow(
      expect.objectContaining({ code: 'ERR_TOPOLOGY', details: { rank: 1, owner: 2, row: 4 } }),
    )
  })

  it('multiplyInto adds to the given columns', () => {
    const block = localBlock(sliceRows(a, 3, 4), owners, 1, [2, 0])
    const result = Float64Array.of(7, 7, 7, 7)
    multiplyInto(block, Float64Array.of(0, 0, 1, 2, 3, 4, 5, 6, 0, 0), 2, result, 4, 1)
    // Own rows (0 0, 1 2), rank 2's (3 4), rank 0's (5 6, 0 0): 3 * (5 6) + 10 * (1 2) + 100 * (3 4).
    expect([...result]).toEqual([7, 332, 445, 7])
  })
})

describe('spmm', () => {
  const problem = (of: SparseMatrix, ranks: number, columnsAtOnce: number): SpmmProblem => ({
    a: of,
    b: randomDense(of.cols, 5, 2),
    topology: topologyFromMatrix(of, { ranks }),
    strategy: { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 0 },
    columnsAtOnce,
    compare: true,
  })

  it.each([1, 2, 3, 4, 7, 8, 16])('returns the bits of the serial product on %i ranks', async (ranks) => {
    const stencil = stencilMatrix({ side: 10, radius: 3, density: 0.4, seed: 5 })
    for (const of of [a, stencil]) {
      for (const columnsAtOnce of [1, 2, 5, 9]) {
        const given = problem(of, ranks, columnsAtOnce)
        const shares = await run((world) => spmm(world, given), { ranks, processes: 3 })
        const expected = [...serialProduct(of, given.b.values, 5)]
        expect(shares.flatMap(({ product }) => [...product])).toEqual(expected)
        expect(shares.flatMap(({ ordinary }) => [...ordinary!])).toEqual(expected)
      }
    }
  })

  it.each([
    ['A to be a real matrix', { a: { ...a, imag: new Float64Array(6) } }],
    ['expected B to have 5 rows', { b: randomDense(4, 5, 1) }],
    ['at least 1 column', { columnsAtOnce: 0 }],
    ['at least 1 column', { columnsAtOnce: 1.5 }],
  ])('rejects with ERR_ARGUMENT: %s', (message, wrong) => {
    expect(() => checkProblem({ ...problem(a, 2, 1), ...wrong })).toThrow(
      expect.objectContaining({ code: 'ERR_ARGUMENT', message: expect.stringContaining(message) }),
    )
  })
})
