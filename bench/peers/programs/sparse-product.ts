import { expectClose, type Program, type Share, sharedNumbers, shareOf, sharesOf, unit } from '../program.js'

const rows = 100_000
const perRow = 16
const products = 30

/** Some rows of a square matrix: the columns and values of their entries, equally many in each row. */
interface Entries {
  readonly columns: Int32Array
  readonly values: Float64Array
}

/** Rows of a matrix, the vector to multiply, and where row 0 of them writes. */
export interface Product extends Entries, Share {
  readonly x: Float64Array
  readonly y: Float64Array
}

/** Multiplies rows from `begin` to before `end`. */
export function multiplyRows({ columns, values, x, y, begin, end }: Product): void {
  for (let row = begin, entry = begin * perRow; row < end; row++) {
    let sum = 0
    for (const last = entry + perRow; entry < last; entry++) sum += values[entry] * x[columns[entry]]
    y[row] = sum
  }
}

/** Fills entries of random columns; every row adds up to 1, so that products stay in range. */
function fill({ columns, values }: Entries, firstRow = 0): void {
  for (let entry = 0; entry < columns.length; entry++) {
    columns[entry] = Math.floor(unit(firstRow * perRow + entry) * rows)
    values[entry] = 1 / perRow
  }
}

const begun = (x: Float64Array) => {
  for (let row = 0; row < rows; row++) x[row] = unit(row)
  return x
}

function entriesOf(count: number, buffer: new (bytes: number) => ArrayBuffer | SharedArrayBuffer): Entries {
  const size = count * perRow
  return {
    columns: new Int32Array(new buffer(4 * size)),
    values: new Float64Array(new buffer(8 * size)),
  } as Entries
}

function plain() {
  const matrix = entriesOf(rows, ArrayBuffer)
  fill(matrix)
  let [x, y] = [new Float64Array(rows), new Float64Array(rows)]
  return () => {
    begun(x)
    for (let i = 0; i < products; i++) {
      multiplyRows({ ...matrix, x, y, begin: 0, end: rows })
      ;[x, y] = [y, x]
    }
    return x
  }
}

/** Products of a matrix with the product before, as solvers and page ranks make them: every part needs the whole vector. */
export const sparseProduct: Program = {
  loops: 3,
  plain,
  inPool(pool, parts) {
    const matrix = entriesOf(rows, SharedArrayBuffer)
    fill(matrix)
    let [x, y] = [sharedNumbers(rows), sharedNumbers(rows)]
    const shares = sharesOf(rows, parts)
    return async () => {
      begun(x)
      for (let i = 0; i < products; i++) {
        await Promise.all(shares.map((share) => pool.run('multiplyRows', { ...matrix, x, y, ...share })))
        ;[x, y] = [y, x]
      }
      return x
    }
  },
  async onRanks(world) {
    const { begin, end } = shareOf(rows, world.rank, world.size)
    const matrix = entriesOf(end - begin, ArrayBuffer)
    fill(matrix, begin)
    const x = new Float64Array(rows)
    const y = world.alloc(Float64Array, end - begin)
    return async () => {
      begun(x)
      for (let i = 0; i < products; i++) {
        multiplyRows({ ...matrix, x, y, begin: 0, end: end - begin })
        await world.allgather(y, { into: x })
      }
      return world.rank === 0 ? x : null
    }
  },
  onTeam({ rank, size, barrier, shared }) {
    const { begin, end } = shareOf(rows, rank, size)
    const matrix = entriesOf(end - begin, ArrayBuffer)
    fill(matrix, begin)
    let [x, y] = [shared(rows), shared(rows)]
    return () => {
      if (rank === 0) begun(x)
      for (let i = 0; i < products; i++) {
        barrier()
        multiplyRows({ ...matrix, x, y: y.subarray(begin, end), begin: 0, end: end - begin })
        ;[x, y] = [y, x]
      }
      barrier()
      return rank === 0 ? x : null
    }
  },
  check: (result) => expectClose(result, plain()()),
}
