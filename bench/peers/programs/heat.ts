import { expectClose, type Program, type Share, sharedNumbers, shareOf, sharesOf } from '../program.js'

const side = 512
const steps = 200
/** Numbers of a row: the border of the plate stays at 0. */
const width = side + 2

/** Two states of a plate, or of a band of its rows, and the rows to compute. */
export interface Band extends Share {
  readonly now: Float64Array
  readonly next: Float64Array
}

/** Computes the next state of rows from `begin` to before `end`, row 0 being the border above the first. */
export function diffuse({ now, next, begin, end }: Band): void {
  for (let row = begin; row < end; row++)
    for (let cell = row * width + 1, last = cell + side; cell < last; cell++)
      next[cell] =
        0.5 * now[cell] + 0.125 * (now[cell - 1] + now[cell + 1] + now[cell - width] + now[cell + width])
}

/** Sets a hot spot away from the middle. @param firstRow of the plate, which is row 1 here */
function heated(cells: Float64Array, firstRow: number, rows: number): Float64Array {
  cells.fill(0)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < side; column++)
      cells[(row + 1) * width + column + 1] =
        100 * Math.exp(-((firstRow + row - 100) ** 2 + (column - 300) ** 2) / 4000)
  return cells
}

function plain(): () => Float64Array {
  let [now, next] = [new Float64Array(width * width), new Float64Array(width * width)]
  return () => {
    heated(now, 0, side)
    for (let step = 0; step < steps; step++) {
      diffuse({ now, next, begin: 1, end: side + 1 })
      ;[now, next] = [next, now]
    }
    return now
  }
}

/**
 * Diffusion on a plate: bands of rows need the borders of their neighbors in each of many short steps. The threads of a
 * pool share the plate, and a step is a task for each band.
 */
export const heat: Program = {
  loops: 3,
  plain,
  inPool(pool, parts) {
    let [now, next] = [sharedNumbers(width * width), sharedNumbers(width * width)]
    const bands = sharesOf(side, parts)
    return async () => {
      heated(now, 0, side)
      for (let step = 0; step < steps; step++) {
        await Promise.all(
          bands.map(({ begin, end }) => pool.run('diffuse', { now, next, begin: begin + 1, end: end + 1 })),
        )
        ;[now, next] = [next, now]
      }
      return now
    }
  },
  async onRanks(world) {
    const line = await world.createCart([world.size])
    const { source: above, dest: below } = line!.shift(0)
    const { begin, end } = shareOf(side, world.rank, world.size)
    const rows = end - begin
    let [now, next] = [new Float64Array(width * (rows + 2)), new Float64Array(width * (rows + 2))]
    const rowOf = (cells: Float64Array, row: number) => cells.subarray(row * width, (row + 1) * width)
    return async () => {
      heated(now, begin, rows)
      for (let step = 0; step < steps; step++) {
        await line!.sendrecv(rowOf(now, rows), below, above, { into: rowOf(now, 0) })
        await line!.sendrecv(rowOf(now, 1), above, below, { into: rowOf(now, rows + 1) })
        diffuse({ now, next, begin: 1, end: rows + 1 })
        ;[now, next] = [next, now]
      }
      const bands = await world.gatherv(now.subarray(width, (rows + 1) * width))
      if (bands === null) return null
      const plate = new Float64Array(width * width)
      plate.set(bands.data, width)
      return plate
    }
  },
  onTeam({ rank, size, barrier, shared }) {
    let [now, next] = [shared(width * width), shared(width * width)]
    const { begin, end } = shareOf(side, rank, size)
    next.fill(0)
    return () => {
      if (rank === 0) heated(now, 0, side)
      for (let step = 0; step < steps; step++) {
        barrier()
        diffuse({ now, next, begin: begin + 1, end: end + 1 })
        ;[now, next] = [next, now]
      }
      barrier()
      return rank === 0 ? now : null
    }
  },
  check: (result) => expectClose(result, plain()()),
}
