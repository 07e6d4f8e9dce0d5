import { requireKnownOptions, requireText } from '../base/known-options.js'
import { uncheckedOptions } from '../base/option.js'
import { isRankweaveError, RankweaveError } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'
import type { OpenSource } from '../text/source-file.js'
import { blockBounds } from '../topology/compressed-rows.js'
import type { EntryLines } from '../topology/files/matrix-market.js'
import {
  type MatrixMarketHead,
  measurePart,
  openMatrixMarket,
  openPart,
} from '../topology/files/matrix-market-part.js'
import { type MatrixRows, requireCommunicator } from './matrix-rows.js'
import { OutgoingEntries, RowEntries } from './row-entries.js'

/** The number of entries that a process reads before it sends them to the owners of their rows. */
const entriesPerRound = 1 << 15

const knownOptions = uncheckedOptions('open')

/**
 * Reads a Matrix Market file so that no rank ever holds the whole matrix. Every process reads the lines that begin in
 * its part of the bytes, and sends each entry to the rank that owns its row. The owner expands symmetric storage. A
 * gzip file or a pipe can only be read from the front: rank 0 reads it, and holds no more of it than others.
 * Collective; every process opens the same path. The result, and the error of a damaged file, equal those of
 * `readMatrixMarket` bit by bit. Repeated entries are summed in the order of the file, and all ranks report the first
 * fault by line and column. Memory of a rank: 44 bytes per entry of its rows (complex 60), of which 12 (20) remain, and
 * 4 bytes per rank. A rank that reads takes 4 MiB more. A file is read twice, first to count its lines.
 *
 * @param options.open opens the file that rank 0 reads first; readers open files again, by path
 * @throws ERR_FILE, ERR_MATRIX_MARKET on all ranks alike; ERR_ARGUMENT before anything is sent
 */
export async function readMatrixRows(
  world: Communicator,
  path: string,
  options: { readonly open?: OpenSource } = {},
): Promise<MatrixRows> {
  requireCommunicator('readMatrixRows', world)
  requireText('readMatrixRows: path', path)
  requireKnownOptions('readMatrixRows', options, knownOptions)
  const { open } = options
  const readers = await readingRanks(world)
  const opened = world.rank === 0 ? attempt(() => openMatrixMarket(path, open)) : null
  const whole = opened?.value ?? null
  try {
    await failTogether(world, opened?.error ?? null)
    const head = await world.bcast<MatrixMarketHead>(whole?.head ?? null)
    const { rows, cols } = head.header
    const bounds = blockBounds(rows, world.size)
    const mine = new RowEntries(head.header, bounds[world.rank], bounds[world.rank + 1])
    const outgoing = new OutgoingEntries(
      head.header,
      bounds,
      readers.includes(world.rank) ? entriesPerRound : 0,
    )
    const source =
      head.bytes === null || readers.length === 1
        ? whole && { entries: whole.entries(outgoing.add), close: () => {} }
        : await ownPart(world, path, head, readers, outgoing)
    try {
      await exchangeEntries(world, source?.entries ?? null, outgoing, mine)
    } finally {
      source?.close()
    }
    return { rows, cols, first: bounds[world.rank], block: mine.toMatrix() }
  } finally {
    whole?.close()
  }
}

/** Returns the first rank of every process, rank 0 among them. */
async function readingRanks(world: Communicator): Promise<readonly number[]> {
  const processes = await world.allgather(Int32Array.of(world.location.process))
  const seen = new Set<number>()
  const first: number[] = []
  processes.forEach((process, rank) => {
    if (seen.has(process)) return
    seen.add(process)
    first.push(rank)
  })
  return first
}

/**
 * Opens the part of this rank's process, behind those of the readers before; null on ranks that do not read.
 * Collective.
 */
async function ownPart(
  world: Communicator,
  path: string,
  { header, lines, bytes }: MatrixMarketHead,
  readers: readonly number[],
  { add: take }: OutgoingEntries,
): Promise<{ readonly entries: EntryLines; close(): void } | null> {
  const reader = readers.indexOf(world.rank)
  const byte = (part: number) =>
    bytes!.head + Math.floor((part * (bytes!.file - bytes!.head)) / readers.length)
  const part = { fromByte: byte(reader), toByte: byte(reader + 1), fileBytes: bytes!.file }
  const measured = reader < 0 ? null : attempt(() => measurePart(path, part))
  const size = measured?.value ?? { bytes: 0, lines: 0, entries: 0 }
  const sizes = await world.allgather(Float64Array.of(size.bytes, size.lines, size.entries))
  await failTogether(world, measured?.error ?? null)
  const before = { lines, entries: 0 }
  let isLast = true
  for (const [index, rank] of readers.entries()) {
    const [bytesOf, linesOf, entriesOf] = sizes.subarray(3 * rank)
    if (index < reader) {
      before.lines += linesOf
      before.entries += entriesOf
    } else if (index > reader && bytesOf > 0) isLast = false
  }
  const opened =
    reader < 0 || size.bytes === 0
      ? null
      : attempt(() => openPart(path, part, { header, before, isLast, take }))
  try {
    await failTogether(world, opened?.error ?? null)
  } catch (error) {
    opened?.value?.close()
    throw error
  }
  return opened?.value ?? null
}

/** Repeats rounds of reading and sending until every entry has arrived. Collective. */
async function exchangeEntries(
  world: Communicator,
  entries: EntryLines | null,
  outgoing: OutgoingEntries,
  mine: RowEntries,
): Promise<void> {
  let error: Failure | null = null
  let isDone = entries === null
  for (let more = 1; more > 0; ) {
    if (!isDone && entries !== null) {
      const read = attempt(() => entries.read(entriesPerRound))
      error = read.error
      isDone = read.value !== true
    }
    const { data, counts } = outgoing.take()
    const arrived = await world.alltoallv(data, counts)
    for (let rank = 0; rank < world.size; rank++) {
      const from = arrived.displs[rank]
      mine.add(rank, arrived.data.subarray(from, from + arrived.counts[rank]))
    }
    more = await world.allreduce(isDone ? 0 : 1, 'max')
  }
  await failTogether(world, error)
}

/** The fields of an error that ranks send. */
type Failure = { readonly [field in 'code' | 'message' | 'details']: RankweaveError[field] }

/** The result or the error of a call. */
type Attempt<T> =
  | { readonly value: T; readonly error: null }
  | { readonly value: null; readonly error: Failure }

function attempt<T>(call: () => T): Attempt<T> {
  try {
    return { value: call(), error: null }
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    const { code, message, details } = error
    return { value: null, error: { code, message, details } }
  }
}

/** Throws the error of the lowest rank that has one, on all ranks. Collective. */
async function failTogether(world: Communicator, error: Failure | null): Promise<void> {
  const failed = await world.allreduce(error === null ? world.size : world.rank, 'min')
  if (failed === world.size) return
  const { code, message, details } = await world.bcast<Failure>(error, failed)
  throw new RankweaveError(code, message, { details })
}
