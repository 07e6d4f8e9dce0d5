import { type Communicator, local, run } from 'rankweave'
import { prepareProduct, type SpmmProblem, spmm } from 'rankweave/spmm'
import { compressTriplets, type SparseMatrix, topologyFromMatrix } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { stencilMatrix } from '../../../src/cli/program/spmm-program.js'
import { parseAuto } from '../../../src/neighborhood/choose/auto.js'
import { parseStrategy } from '../../../src/neighborhood/strategies/strategies.js'
import {
  type DenseMatrix,
  maxRelativeError,
  randomRows,
  rowsOfDense,
  serialProduct,
  toDense,
} from '../../../src/spmm/dense-matrix.js'
import { joinRows, rowsOfMatrix, sliceRows } from '../../../src/spmm/matrix-rows.js'
import { localBlock, multiplyRows, panelColumns, sourcesOf } from '../../../src/spmm/sparse-product.js'
import { refusal } from '../../support/refusal.js'

/** Seeded numbers in [-1, 1). */
function randomDense(rows: number, cols: number, seed: number): DenseMatrix {
  return randomRows({ rank: 0, size: 1 }, { rows, cols, seed })
}

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

  it('randomRows returns the same numbers for the same seed', () => {
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

  it('renumbers columns to the own block, then those of the sources', () => {
    const block = localBlock(sliceRows(a, 3, 4), owners, 1, [2, 0])
    // Blocks of 2 rows, own, rank 2's, rank 0's. Columns 0, 3, 4: rank 0's first row, the own second one,
    // rank 2's first.
    expect([...block.operandRow]).toEqual([4, 1, 2])
    expect(block).toMatchObject({ blockRows: 2, operandRows: 6 })
  })

  it('tells rows that need own rows of B only from the others', () => {
    const block = localBlock(a, owners, 1, [0, 2])
    expect([...block.innerRows]).toEqual([1, 2])
    expect([...block.outerRows]).toEqual([0, 3])
  })

  it('sourcesOf lists the other owners that are needed, ascending', () => {
    expect([...sourcesOf(a, owners, 1)]).toEqual([0, 2])
    expect([...sourcesOf(sliceRows(a, 2, 3), owners, 1)]).toEqual([])
  })

  it('rejects a column whose owner is not a source', () => {
    expect(() => localBlock(sliceRows(a, 3, 4), owners, 1, [0])).toThrow(
      expect.objectContaining({ code: 'ERR_TOPOLOGY', details: { rank: 1, owner: 2, row: 4 } }),
    )
  })

  it('multiplyRows writes the given rows and columns', () => {
    const block = localBlock(sliceRows(a, 2, 4), owners, 1, [2, 0])
    const result = new Float64Array(8).fill(7)
    multiplyRows(
      block,
      Int32Array.of(1),
      Float64Array.of(0, 0, 1, 2, 3, 4, 0, 0, 5, 6, 0, 0),
      2,
      result,
      4,
      1,
    )
    // Own rows (0 0, 1 2), rank 2's (3 4), rank 0's (5 6, 0 0): 3 * (5 6) + 10 * (1 2) + 100 * (3 4).
    expect([...result]).toEqual([7, 7, 7, 7, 7, 325, 438, 7])
  })

  it.each([1, 3, 4, 5, 8, 31, 67])('multiplyRows gives the serial bits for %i columns', (width) => {
    const stencil = stencilMatrix({ side: 12, radius: 2, density: 0.5, seed: 3 })
    const b = randomDense(stencil.cols, width, 4)
    const block = localBlock(stencil, Int32Array.of(0, stencil.rows), 0, [])
    const product = new Float64Array(stencil.rows * width)
    multiplyRows(block, block.innerRows, b.values, width, product, width, 0)
    expect(product).toEqual(serialProduct(stencil, b.values, width))
  })

  it('panels fit the cache, are whole cache lines and as wide as the operand where that fits', () => {
    expect(panelColumns(100, 16)).toBe(16)
    expect(panelColumns(1000, 100)).toBe(32)
    expect(panelColumns(10_000_000, 100)).toBe(8)
    expect(panelColumns(0, 5)).toBe(5)
  })
})

describe('rows of ranks', () => {
  it('joinRows undoes rowsOfMatrix', () => {
    const parts = Array.from({ length: 7 }, (_, rank) => rowsOfMatrix({ rank, size: 7 }, a))
    expect(joinRows(parts)).toEqual(a)
  })

  it('randomRows are those of the whole matrix', () => {
    const whole = randomDense(10, 3, 5)
    for (let rank = 0; rank < 4; rank++) {
      const own = randomRows({ rank, size: 4 }, { rows: 10, cols: 3, seed: 5 })
      expect(own).toEqual(rowsOfDense({ rank, size: 4 }, whole))
    }
  })

  it.each([undefined, 0.5, Number.NaN, '1'])('randomRows refuses %s as a seed', (seed) => {
    const make = () => randomRows({ rank: 0, size: 1 }, { rows: 2, cols: 2, seed: seed as number })
    expect(make).toThrow(refusal('ERR_ARGUMENT'))
  })
})

describe('spmm', () => {
  const width = 5
  const shareOf =
    (of: SparseMatrix, columnsAtOnce: number, text = 'common-neighbor:k=2,theta=0') =>
    (world: Communicator) =>
      spmm(world, {
        a: rowsOfMatrix(world, of),
        b: rowsOfDense(world, randomDense(of.cols, width, 2)),
        strategy: parseAuto(text) ?? parseStrategy(text),
        columnsAtOnce,
        compare: true,
        turns: 1,
      } satisfies SpmmProblem)
  const stencil = stencilMatrix({ side: 10, radius: 3, density: 0.4, seed: 5 })
  const empty = matrix(0, 0, [])
  const withoutEntries = matrix(3, 9, [])

  it.each([1, 3, 8])(
    'returns the bits of the serial product on %i ranks, by every exchange',
    async (ranks) => {
      for (const of of [a, stencil, empty, withoutEntries]) {
        for (const columnsAtOnce of [2, 9]) {
          const shares = await run(shareOf(of, columnsAtOnce), { ranks, processes: 3 })
          const expected = serialProduct(of, randomDense(of.cols, width, 2).values, width)
          expect(shares.flatMap(({ product }) => [...product])).toEqual([...expected])
          const { times, topology } = shares[0].facts!
          expect(times.map(({ name, differing }) => [name, differing])).toEqual([
            ['planned', 0],
            ['direct', 0],
            ['ordinary allgather', 0],
          ])
          expect(topology).toEqual(topologyFromMatrix(of, { ranks }))
        }
      }
    },
  )

  it.each(['auto', 'routed'])('%s returns the bits of the serial product', async (text) => {
    const shares = await run(shareOf(stencil, 2, text), { ranks: 8, processes: 8 })
    const expected = serialProduct(stencil, randomDense(stencil.cols, width, 2).values, width)
    expect(shares.flatMap(({ product }) => [...product])).toEqual([...expected])
    const { tried, exchange } = shares[0].facts!
    if (text === 'routed') expect([tried, exchange]).toEqual([null, 'routed'])
    else
      expect(tried!.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['direct', 'ordinary allgather', exchange]),
      )
  })

  it.each(['auto', 'routed'])('by %s leaves no communicator and no request behind', async (text) => {
    const leaving = async (world: Communicator) => {
      const { runtime } = world.seat().state
      const open = () => [...runtime.contexts].map(({ collectives }) => [...collectives.lanes].length)
      await world.barrier()
      const before = open()
      await shareOf(stencil, 2, text)(world)
      await world.barrier()
      return [before, open()]
    }
    for (const [before, after] of await run(leaving, { ranks: 8, processes: 3 }))
      expect(after).toEqual(before)
  })

  it('a prepared product multiplies any number of B', async () => {
    const products = await run(
      async (world) => {
        const { product } = await prepareProduct(world, rowsOfMatrix(world, stencil), 3, {
          strategy: { kind: 'routed' },
          columnsAtOnce: 2,
        })
        const results: Float64Array[] = []
        for (const seed of [1, 2, 3])
          results.push(await product.multiply(rowsOfDense(world, randomDense(stencil.cols, 3, seed)).values))
        await expect(product.multiply(new Float64Array(1))).rejects.toMatchObject({ code: 'ERR_COUNT' })
        product.free()
        return results
      },
      { ranks: 4, processes: 2 },
    )
    for (const [i, seed] of [1, 2, 3].entries()) {
      const expected = serialProduct(stencil, randomDense(stencil.cols, 3, seed).values, 3)
      expect(products.flatMap((ofRank) => [...ofRank[i]])).toEqual([...expected])
    }
  })

  it.each(['routed', 'direct'])('products of all ranks of a process, by %s', async (text) => {
    const one = async (world: Communicator) => {
      const { product } = await prepareProduct(world, rowsOfMatrix(world, stencil), 3, {
        strategy: parseStrategy(text),
        columnsAtOnce: 2,
      })
      const b = (seed: number) => rowsOfDense(world, randomDense(stencil.cols, 3, seed)).values
      return { product, b }
    }
    const apart = async (world: Communicator) => {
      const { product, b } = await one(world)
      return [await product.multiply(b(1)), await product.multiply(b(2))]
    }
    const hosted = async (worlds: readonly Communicator[]) => {
      // One process calls for each rank.
      if (worlds[0]!.rank === 0) return Promise.all(worlds.map(apart))
      const all = await Promise.all(worlds.map(one))
      const products = all.map(({ product }) => product)
      const first = await products[0]!.multiplyAll(
        products,
        all.map(({ b }) => b(1)),
      )
      const into = first.map(({ length }) => new Float64Array(length))
      const second = await products[0]!.multiplyAll(
        products,
        all.map(({ b }) => b(2)),
        into,
      )
      expect(second).toBe(into)
      const refused = [
        products[1]!.multiplyAll(
          products.slice(1),
          all.slice(1).map(({ b }) => b(1)),
        ),
        products[0]!.multiplyAll(
          products.slice(1),
          all.slice(1).map(({ b }) => b(1)),
        ),
        products[0]!.multiplyAll(products, [], into),
        products[0]!.multiplyAll(
          products,
          products.map(() => new Float64Array(1)),
        ),
      ]
      const codes = (await Promise.allSettled(refused)).map(
        (each) => (each as PromiseRejectedResult).reason.code,
      )
      expect(codes).toEqual(['ERR_ARGUMENT', 'ERR_ARGUMENT', 'ERR_ARGUMENT', 'ERR_COUNT'])
      return first.map((product, n) => [product, second[n]!])
    }
    const products = await run(apart, { ranks: 5, fabric: local({ ranksPerProcess: [2, 3] }), hosted })
    for (const [i, seed] of [1, 2].entries()) {
      const expected = serialProduct(stencil, randomDense(stencil.cols, 3, seed).values, 3)
      expect(products.flatMap((ofRank) => [...ofRank[i]!])).toEqual([...expected])
    }
  })

  it.each([
    [{ ...stencil, imag: stencil.values }, 2],
    [stencil, 0],
    [stencil, Number.NaN],
  ])('a product of a complex matrix, or by no columns, is not prepared', async (of, columnsAtOnce) => {
    const failing = run(
      (world) =>
        prepareProduct(world, rowsOfMatrix(world, of), 3, { strategy: { kind: 'direct' }, columnsAtOnce }),
      { ranks: 2, processes: 2 },
    )
    await expect(failing).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
  })
})
