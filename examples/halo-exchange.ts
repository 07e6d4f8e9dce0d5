/**
 * The heat equation on a grid of ranks: every rank owns a tile of a plate and, around it, a frame of its
 * neighbors' cells (the halo), which is exchanged before every step.
 *
 *   rankweave run examples/halo-exchange.ts -n 6
 *
 * The result is compared with the same steps on one rank. It must be equal to the last bit: every cell is
 * computed from the same numbers in the same order, whichever rank owns it.
 */
import { type CartCommunicator, type Communicator, type Gathered, strided } from 'rankweave'
import { dimsCreate } from 'rankweave/topology'

/** Any number of ranks works; these are tested. */
export const rankCounts = [1, 4, 6, 7]

/** The plate in cells. It need not be divisible by anything. */
const plate = { rows: 30, columns: 44 }
const steps = 60

/** A hot spot away from the middle; the boundary stays at 0. */
const initial = (row: number, column: number) => 100 * Math.exp(-((row - 8) ** 2 + (column - 30) ** 2) / 40)

export default async function main(world: Communicator) {
  // Two dimensions as equal as the number of ranks allows. Not periodic: the plate has an edge.
  const grid = await world.createCart(dimsCreate(world.size, 2))
  if (grid === null) return null // more ranks than the grid has places: cannot happen with these dims

  const [i, j] = grid.coords()
  const rows = share(plate.rows, grid.dims[0], i)
  const columns = share(plate.columns, grid.dims[1], j)
  let now = new Tile(rows.size, columns.size)
  let next = new Tile(rows.size, columns.size)
  now.fill((r, c) => initial(rows.first + r, columns.first + c))

  for (let step = 0; step < steps; step++) {
    await exchangeHalo(grid, now)
    now.diffuseInto(next)
    ;[now, next] = [next, now]
  }

  const tiles = await grid.gatherv(now.inside())
  if (tiles === null) return null
  const result = assemble(grid, tiles)
  const serial = onOneRank()
  return { plate: result, differing: serial.filter((value, cell) => value !== result[cell]).length }
}

/**
 * Along each dimension: my last cells to the rank ahead while the one behind sends me its last, and the other
 * way round. At the edge of the plate `shift` returns PROC_NULL: nothing is sent, the halo keeps its zeros.
 */
async function exchangeHalo(grid: CartCommunicator, tile: Tile): Promise<void> {
  const { rows, columns } = tile
  const vertical = grid.shift(0)
  await grid.sendrecv(tile.row(rows), vertical.dest, vertical.source, { into: tile.row(0) })
  await grid.sendrecv(tile.row(1), vertical.source, vertical.dest, { into: tile.row(rows + 1) })
  const horizontal = grid.shift(1)
  await grid.sendrecv(tile.column(columns), horizontal.dest, horizontal.source, { into: tile.column(0) })
  await grid.sendrecv(tile.column(1), horizontal.source, horizontal.dest, { into: tile.column(columns + 1) })
}

/** A tile with its halo: rows and columns 1 to n are the tile's own, 0 and n + 1 the neighbors'. */
class Tile {
  readonly rows: number
  readonly columns: number
  readonly #width: number
  readonly #cells: Float64Array

  constructor(rows: number, columns: number) {
    this.rows = rows
    this.columns = columns
    this.#width = columns + 2
    this.#cells = new Float64Array((rows + 2) * this.#width)
  }

  /** A row is contiguous. */
  row(r: number) {
    return this.#cells.subarray(r * this.#width + 1, r * this.#width + 1 + this.columns)
  }

  /** A column is one cell out of every row: a strided view sends and receives it in place. */
  column(c: number) {
    return strided(this.#cells, {
      offset: this.#width + c,
      count: this.rows,
      blockLength: 1,
      stride: this.#width,
    })
  }

  fill(value: (row: number, column: number) => number): void {
    for (let r = 1; r <= this.rows; r++) {
      for (let c = 1; c <= this.columns; c++) this.#cells[r * this.#width + c] = value(r - 1, c - 1)
    }
  }

  diffuseInto(next: Tile): void {
    const width = this.#width
    const cells = this.#cells
    for (let r = 1; r <= this.rows; r++) {
      for (let c = 1; c <= this.columns; c++) {
        const at = r * width + c
        const around = cells[at - width] + cells[at + width] + cells[at - 1] + cells[at + 1]
        next.#cells[at] = cells[at] + 0.2 * (around - 4 * cells[at])
      }
    }
  }

  /** The tile's own cells, without the halo. */
  inside(): Float64Array {
    const inside = new Float64Array(this.rows * this.columns)
    for (let r = 1; r <= this.rows; r++) inside.set(this.row(r), (r - 1) * this.columns)
    return inside
  }
}

/** Cells of part `i` of `parts`: the first ones get one more. */
function share(cells: number, parts: number, i: number): { readonly first: number; readonly size: number } {
  const size = Math.floor(cells / parts)
  const larger = cells % parts
  return { first: i * size + Math.min(i, larger), size: size + (i < larger ? 1 : 0) }
}

/** The plate from the tiles of all ranks. */
function assemble(grid: CartCommunicator, { data, displs }: Gathered<Float64Array>): Float64Array {
  const result = new Float64Array(plate.rows * plate.columns)
  for (let rank = 0; rank < grid.size; rank++) {
    const [i, j] = grid.coords(rank)
    const rows = share(plate.rows, grid.dims[0], i)
    const columns = share(plate.columns, grid.dims[1], j)
    for (let r = 0; r < rows.size; r++) {
      const from = displs[rank] + r * columns.size
      result.set(data.subarray(from, from + columns.size), (rows.first + r) * plate.columns + columns.first)
    }
  }
  return result
}

/** The whole plate as one tile, which has no neighbors. */
function onOneRank(): Float64Array {
  let now = new Tile(plate.rows, plate.columns)
  let next = new Tile(plate.rows, plate.columns)
  now.fill(initial)
  for (let step = 0; step < steps; step++) {
    now.diffuseInto(next)
    ;[now, next] = [next, now]
  }
  return now.inside()
}
