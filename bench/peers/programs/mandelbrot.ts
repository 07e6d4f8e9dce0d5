import { pictureOf, rowsFrom, rowsOfAll } from '../../../examples/mandelbrot.js'
import { expectClose, type Program } from '../program.js'

/** A share of the rows: the first, and the distance to the next. */
export interface Rows {
  readonly first: number
  readonly stride: number
}

/** Computes the steps of every point of some rows. */
export function rowsOf({ first, stride }: Rows): Uint16Array {
  return rowsFrom(first, stride)
}

/** The loop of the example: parts whose results are arrays. */
export const mandelbrot: Program = {
  loops: 3,
  plain: () => () => rowsFrom(0, 1),
  inPool: (pool, parts) => async () =>
    pictureOf(
      await Promise.all(
        Array.from({ length: parts }, (_, first) =>
          pool.run<Uint16Array>('rowsOf', { first, stride: parts }),
        ),
      ),
    ),
  onRanks: async (world) => () => rowsOfAll(world),
  check: (result) => expectClose(result, rowsFrom(0, 1)),
}
