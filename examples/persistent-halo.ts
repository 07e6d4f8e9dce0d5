/**
 * The heat equation on a torus of ranks, with persistent requests: the exchange of halos is planned once.
 * Every step starts it, updates the cells that need no halo, and waits before it updates the others.
 * It has two forms: `main` runs once per rank, `hosted` once per process for all ranks there.
 *
 *   rankweave run examples/persistent-halo.ts -n 6
 *
 * The result is compared with the same steps on one rank. It must be equal to the last bit.
 */
import { type CartCommunicator, Communicator, type PersistentRequest, strided, together } from 'rankweave'
import { dimsCreate } from 'rankweave/topology'

/** Any number of ranks works; these are tested. */
export const rankCounts = [1, 2, 4, 6, 7]

/** Cells of every rank's tile. */
const tile = { rows: 8, columns: 10 }
const steps = 40

/** Periodic: the first and the last rank of a dimension are neighbors. */
const gridOf = (world: Communicator) =>
  world.createCart(dimsCreate(world.size, 2), { periods: [true, true] }) as Promise<CartCommunicator>

export default async function main(world: Communicator) {
  const grid = await gridOf(world)
  const own = new Tile(grid)
  for (let step = 0; step < steps; step++) {
    const arrived = own.exchange.start()
    own.updateInner()
    await arrived
    own.updateOuter()
  }
  return resultOf(grid, await grid.gather(own.cells))
}

/** Runs once per process: one start serves all of its tiles. */
export async function hosted(worlds: readonly Communicator[]) {
  const grids = await Promise.all(worlds.map(gridOf))
  const own = grids.map((grid) => new Tile(grid))
  for (let step = 0; step < steps; step++) {
    const arrived = Communicator.startAll(own.map(({ exchange }) => exchange))
    for (const each of own) each.updateInner()
    await arrived
    for (const each of own) each.updateOuter()
  }
  const gathered = await together(grids, (grid, i) => grid.gather(own[i].cells))
  return gathered.map((tiles, i) => resultOf(grids[i], tiles))
}

function resultOf(grid: CartCommunicator, tiles: Float64Array | null) {
  return tiles === null ? null : { tiles, differing: differing(grid, tiles) }
}

/** The cells of one rank before and after a step, each with the exchange of its halo. */
class Tile {
  #now = new Field(tile.rows, tile.columns)
  #next = new Field(tile.rows, tile.columns)
  #nextExchange: PersistentRequest
  exchange: PersistentRequest

  constructor(grid: CartCommunicator) {
    const [i, j] = grid.coords()
    this.#now.fill(i * tile.rows, j * tile.columns)
    this.exchange = haloExchange(grid, this.#now)
    this.#nextExchange = haloExchange(grid, this.#next)
  }

  updateInner(): void {
    this.#now.diffuseInner(this.#next)
  }

  /** Once the halo has arrived; ends the step. */
  updateOuter(): void {
    this.#now.diffuseOuter(this.#next)
    ;[this.#now, this.#next] = [this.#next, this.#now]
    ;[this.exchange, this.#nextExchange] = [this.#nextExchange, this.exchange]
  }

  get cells(): Float64Array {
    return this.#now.inside()
  }
}

/**
 * A request that sends the outermost rows and columns of a field and receives its halo, in place. Blocks are
 * in the order of the grid's neighbors: per dimension the one behind, then the one ahead.
 */
function haloExchange(grid: CartCommunicator, field: Field): PersistentRequest {
  const { rows, columns } = field
  return grid.neighborAlltoallwInit(
    [field.row(1), field.row(rows), field.column(1), field.column(columns)],
    [field.row(0), field.row(rows + 1), field.column(0), field.column(columns + 1)],
  )
}

/** Cells with a halo: rows and columns 1 to n are its own, 0 and n + 1 the neighbors'. */
class Field {
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
    const { rows: count } = this
    return strided(this.#cells, { offset: this.#width + c, count, blockLength: 1, stride: this.#width })
  }

  /** Hot spots; `row` and `column` are the place of the first cell on the torus. */
  fill(row: number, column: number): void {
    for (let r = 0; r < this.rows; r++)
      for (let c = 0; c < this.columns; c++)
        this.#cells[(r + 1) * this.#width + c + 1] = ((row + r) * 7 + (column + c) * 5) % 11
  }

  /** Cells whose neighbors are all own. */
  diffuseInner(next: Field): void {
    this.#diffuse(next, 2, this.rows - 1, 2, this.columns - 1)
  }

  /** The outermost rows and columns, which read the halo. */
  diffuseOuter(next: Field): void {
    const { rows, columns } = this
    this.#diffuse(next, 1, 1, 1, columns)
    this.#diffuse(next, rows, rows, 1, columns)
    this.#diffuse(next, 2, rows - 1, 1, 1)
    this.#diffuse(next, 2, rows - 1, columns, columns)
  }

  #diffuse(next: Field, firstRow: number, lastRow: number, firstColumn: number, lastColumn: number): void {
    const width = this.#width
    const cells = this.#cells
    for (let r = firstRow; r <= lastRow; r++)
      for (let c = firstColumn; c <= lastColumn; c++) {
        const at = r * width + c
        const around = cells[at - width] + cells[at + width] + cells[at - 1] + cells[at + 1]
        next.#cells[at] = cells[at] + 0.2 * (around - 4 * cells[at])
      }
  }

  /** Its opposite edges are neighbors: the halo of a field that is the whole torus. */
  wrap(): void {
    const { rows, columns } = this
    const width = this.#width
    this.row(0).set(this.row(rows))
    this.row(rows + 1).set(this.row(1))
    for (let at = width; at <= rows * width; at += width) {
      this.#cells[at] = this.#cells[at + columns]
      this.#cells[at + columns + 1] = this.#cells[at + 1]
    }
  }

  /** The own cells, without the halo. */
  inside(): Float64Array {
    const inside = new Float64Array(this.rows * this.columns)
    for (let r = 1; r <= this.rows; r++) inside.set(this.row(r), (r - 1) * this.columns)
    return inside
  }
}

/** Cells that differ from those of the same steps on one rank, which has the whole torus. */
function differing(grid: CartCommunicator, tiles: Float64Array): number {
  const [rows, columns] = [grid.dims[0] * tile.rows, grid.dims[1] * tile.columns]
  let now = new Field(rows, columns)
  let next = new Field(rows, columns)
  now.fill(0, 0)
  for (let step = 0; step < steps; step++) {
    now.wrap()
    now.diffuseInner(next)
    now.diffuseOuter(next)
    ;[now, next] = [next, now]
  }
  const serial = now.inside()
  const cells = tile.rows * tile.columns
  return tiles.filter((value, at) => {
    const [i, j] = grid.coords(Math.floor(at / cells))
    const row = i * tile.rows + Math.floor((at % cells) / tile.columns)
    return value !== serial[row * columns + j * tile.columns + (at % tile.columns)]
  }).length
}
