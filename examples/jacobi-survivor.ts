/**
 * Jacobi's method for the Laplace equation on a plate cut into blocks of rows, one per rank, which continues
 * when a process is lost: every rank keeps a copy of its block, and those of some ranks on another process.
 * The survivors agree that something failed, shrink the communicator, redistribute the last copies, and
 * repeat the sweeps since then.
 *
 *   rankweave run examples/jacobi-survivor.ts -n 6 --processes 3 --fabric threads -- lose 1
 *
 * The result is compared with the same sweeps on one rank. It must be equal to the last bit, whichever
 * process was lost: a sweep computes every cell from cells of the sweep before, in the same order, and the
 * largest change is exact.
 */
import { exit } from 'node:process'
import { type Communicator, isRankweaveError, PROC_NULL } from 'rankweave'

/** Any number of ranks up to the rows works; these are tested. */
export const rankCounts = [1, 4, 6]

const plate = { rows: 24, columns: 16 }
/** Converged when no cell changes by more in a sweep. */
const tolerance = 1e-2
/** Sweeps from one checkpoint to the next. */
const interval = 16

/** Rows of the plate after so many sweeps. */
interface Block {
  readonly sweeps: number
  readonly first: number
  readonly cells: Float64Array
}

/** The state of a rank after a round that worked everywhere. */
interface Round {
  readonly block: Block
  /** Blocks of ranks on another process, after the same sweeps. */
  readonly copies: readonly Block[]
  /** The plate on rank 0, once converged. */
  readonly result: { readonly cells: Float64Array | null } | undefined
}

/**
 * @param args `lose P`: process P ends itself after two checkpoints; for fabrics on which it is a worker of
 *   its own
 */
export default async function main(world: Communicator, args: readonly string[] = []) {
  const isDoomed = args[0] === 'lose' && world.location.process === Number(args[1])
  let comm = world
  let recoveries = 0
  /** My block, unless it has to be restored. */
  let block: Block | undefined
  /** The blocks of the last checkpoint that I have: mine, and copies. */
  let saved: readonly Block[] = []

  for (;;) {
    const round = await unlessLost(async () =>
      sweepRound(comm, block ?? (await restored(comm, saved)), isDoomed),
    )
    // Ranks that wait for this one learn that it has given up.
    if (round === undefined) await comm.revoke()
    // The round may have worked here and failed elsewhere. What they agree on, or that they cannot, is the
    // same for all.
    await comm.ackFailed()
    const agreed = await unlessLost(() => comm.agree(round === undefined ? 0 : 1))
    if (round !== undefined && agreed === 1) {
      ;({ block } = round)
      saved = [block, ...round.copies]
      if (round.result !== undefined) return summary(round.result.cells, block.sweeps, recoveries, comm.size)
    } else {
      recoveries++
      block = undefined
      await comm.revoke()
      comm = await comm.shrink()
    }
  }
}

/** Returns the result of `attempt`; undefined when it failed because a process was lost. */
async function unlessLost<T>(attempt: () => Promise<T>): Promise<T | undefined> {
  try {
    return await attempt()
  } catch (error) {
    if (isRankweaveError(error, 'ERR_PEER_LOST') || isRankweaveError(error, 'ERR_REVOKED')) return undefined
    throw error
  }
}

/** Sweeps until the next checkpoint, which is made too. */
async function sweepRound(
  comm: Communicator,
  { sweeps, first, cells }: Block,
  isDoomed: boolean,
): Promise<Round> {
  let now = cells
  let change = 0
  for (let sweep = 0; sweep < interval; sweep++) {
    if (isDoomed && sweeps === 2 * interval && sweep === 3) exit(1)
    const next = swept(now, await rowsAround(comm, now))
    change = now.reduce((most, cell, at) => Math.max(most, Math.abs(next[at] - cell)), 0)
    now = next
  }
  const [largest] = await comm.allreduce(Float64Array.of(change), 'max')
  const block = { sweeps: sweeps + interval, first, cells: now }
  const copies = await copiesOfOthers(comm, block)
  const isConverged = largest <= tolerance
  return { block, copies, result: isConverged ? { cells: await wholePlate(comm, now) } : undefined }
}

/**
 * The rows above and below my block. At the edges `PROC_NULL` sends nothing: the plate's edge is hot above,
 * cold below.
 */
async function rowsAround(comm: Communicator, cells: Float64Array) {
  const { columns } = plate
  const up = comm.rank > 0 ? comm.rank - 1 : PROC_NULL
  const down = comm.rank < comm.size - 1 ? comm.rank + 1 : PROC_NULL
  const above = new Float64Array(columns).fill(100)
  const below = new Float64Array(columns)
  await comm.sendrecv(cells.subarray(-columns), down, up, { into: above })
  await comm.sendrecv(cells.subarray(0, columns), up, down, { into: below })
  return { above, below }
}

/**
 * Sweeps a block: every inner cell becomes the mean of its neighbors; the sides of the plate are cold.
 */
function swept(
  cells: Float64Array,
  { above, below }: { above: Float64Array; below: Float64Array },
): Float64Array {
  const { columns } = plate
  const next = new Float64Array(cells.length)
  for (let at = 0; at < cells.length; at++) {
    const column = at % columns
    const north = at >= columns ? cells[at - columns] : above[column]
    const south = at + columns < cells.length ? cells[at + columns] : below[column]
    const west = column > 0 ? cells[at - 1] : 0
    const east = column < columns - 1 ? cells[at + 1] : 0
    next[at] = (north + south + west + east) / 4
  }
  return next
}

/** My block goes to the next rank on another process; I get those of the ranks that I am this rank for. */
async function copiesOfOthers(comm: Communicator, { sweeps, cells }: Block): Promise<Block[]> {
  const processes = await comm.allgather(Int32Array.of(comm.location.process))
  const keepers = Array.from(processes, (process, rank) => {
    for (let distance = 1; distance < comm.size; distance++) {
      const keeper = (rank + distance) % comm.size
      if (processes[keeper] !== process) return keeper
    }
    return PROC_NULL
  })
  const sending = comm.isend(cells, keepers[comm.rank])
  const copies: Block[] = []
  for (let rank = 0; rank < comm.size; rank++) {
    if (keepers[rank] !== comm.rank) continue
    const { data } = await comm.recv<Float64Array>(rank)
    copies.push({ sweeps, first: share(comm.size, rank).first, cells: data })
  }
  await sending.wait()
  return copies
}

/**
 * My block of the last checkpoint, cut anew: each rank that has rows of it sends them to the ranks that own
 * them now.
 */
async function restored(comm: Communicator, saved: readonly Block[]): Promise<Block> {
  const { columns } = plate
  const { first, size } = share(comm.size, comm.rank)
  const cells = new Float64Array(size * columns)
  // The plate is cold everywhere before the first checkpoint.
  if (saved.length === 0) return { sweeps: 0, first, cells }
  const { sweeps } = saved[0]
  const sent = Array.from({ length: comm.size }, (_, rank) => rowsOf(saved, share(comm.size, rank)))
  const counts = sent.map((rows) => rows.length)
  const { data } = await comm.alltoallv(Float64Array.from(sent.flat()), counts)
  const missing = new Set(Array.from({ length: size }, (_, row) => first + row))
  for (let at = 0; at < data.length; at += columns + 1) {
    const row = data[at]
    missing.delete(row)
    cells.set(data.subarray(at + 1, at + 1 + columns), (row - first) * columns)
  }
  if (missing.size > 0) throw new Error(`rows ${[...missing].join(', ')} were lost with both of their copies`)
  return { sweeps, first, cells }
}

/** The rows that are in both, each after its number. */
function rowsOf(blocks: readonly Block[], { first, size }: { first: number; size: number }): number[] {
  const { columns } = plate
  return blocks.flatMap((block) => {
    const rows: number[] = []
    for (let at = 0; at < block.cells.length; at += columns) {
      const row = block.first + at / columns
      if (row >= first && row < first + size) rows.push(row, ...block.cells.subarray(at, at + columns))
    }
    return rows
  })
}

async function wholePlate(comm: Communicator, cells: Float64Array): Promise<Float64Array | null> {
  return (await comm.gatherv(cells))?.data ?? null
}

/** Rows of a rank: the first ranks get one more. */
function share(ranks: number, rank: number): { readonly first: number; readonly size: number } {
  const size = Math.floor(plate.rows / ranks)
  const larger = plate.rows % ranks
  return { first: rank * size + Math.min(rank, larger), size: size + (rank < larger ? 1 : 0) }
}

/** Compared with the same sweeps on one rank. */
function summary(cells: Float64Array | null, sweeps: number, recoveries: number, survivors: number) {
  if (cells === null) return null
  let serial: Float64Array = new Float64Array(plate.rows * plate.columns)
  const edges = { above: new Float64Array(plate.columns).fill(100), below: new Float64Array(plate.columns) }
  for (let sweep = 0; sweep < sweeps; sweep++) serial = swept(serial, edges)
  const differing = serial.filter((cell, at) => cell !== cells[at]).length
  return { sweeps, recoveries, survivors, differing, plate: cells }
}
