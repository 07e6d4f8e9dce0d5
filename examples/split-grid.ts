/**
 * Rows and columns of a grid: y = A x with A divided into blocks, one per rank.
 *
 *   rankweave run examples/split-grid.ts -n 12
 *
 * The ranks form a grid. Rank (i, j) holds block (i, j) of A. Two splits of the world give every rank two
 * more communicators: its row of the grid and its column. Then the product is one broadcast down the columns,
 * one local product, and one reduction along the rows.
 */
import type { Communicator } from 'rankweave'

/** Any number of ranks works; these are tested. */
export const rankCounts = [1, 4, 7, 12]

/** Rows and columns of every rank's block. */
const block = 8

/** Entries of A and x: any function of the global indices will do. */
const entryOfA = (row: number, column: number) => 1 / (1 + row + 2 * column)
const entryOfX = (column: number) => Math.sqrt(column)

export default async function main(world: Communicator) {
  const columns = mostSquare(world.size)
  const [i, j] = [Math.floor(world.rank / columns), world.rank % columns]

  // Ranks with equal color end up together, ordered by key.
  const row = await world.split(i, j)
  const column = await world.split(j, i)

  // The top row of the grid has x; part j is broadcast down column j.
  const mine = i === 0 ? Float64Array.from({ length: block }, (_, c) => entryOfX(j * block + c)) : null
  const x = await column.bcast(mine, 0)

  const partial = Float64Array.from({ length: block }, (_, r) => {
    let sum = 0
    for (let c = 0; c < block; c++) sum += entryOfA(i * block + r, j * block + c) * x[c]
    return sum
  })

  // Part i of y is the sum over row i; its first rank gets it.
  const y = await row.reduce(partial, 'sum', 0)

  // The first column holds all of y now; its rank 0 collects the parts in order.
  const whole = y === null ? null : await column.gather(y, 0)
  return whole === null ? null : { y: whole, largestError: largestError(whole, columns * block) }
}

/** Largest d <= sqrt(n) such that the grid is n / d by d. */
function mostSquare(n: number): number {
  let d = Math.floor(Math.sqrt(n))
  while (n % d !== 0) d--
  return d
}

/** Compared with the product by its definition. */
function largestError(y: Float64Array, columns: number): number {
  let largest = 0
  for (let row = 0; row < y.length; row++) {
    let expected = 0
    for (let column = 0; column < columns; column++) expected += entryOfA(row, column) * entryOfX(column)
    largest = Math.max(largest, Math.abs(y[row] - expected) / expected)
  }
  return largest
}
