import { fileError } from '../text/whole-file.js'

/** The kinds of records of the preloaded library; `c/matching.h` has the same. */
export const callRecordKind = {
  header: 1,
  communicator: 2,
  send: 3,
  post: 4,
  done: 5,
  probe: 6,
  mprobe: 7,
  cancel: 8,
  bound: 9,
  end: 10,
  run: 11,
} as const

/** The peer of a completion that was a cancellation. */
export const cancelledPeer = -2

const recordBytes = 32
const version = 2

/** The most communicators that a process records. */
const mostCommunicators = 65_536

/** The records of one process, as `RANKWEAVE_SHIM=matching:FOLDER` writes them. */
export interface CallRecords {
  /** The name of the file, for errors. */
  readonly file: string
  /** The id of the run, equal in the records of all its processes, and in no other. */
  readonly run: string
  /** The world rank. */
  readonly rank: number
  /** The number of ranks of the world. */
  readonly ranks: number
  readonly records: number
  /** Whether the process reached `MPI_Finalize`. */
  readonly isEnded: boolean
  /** The ns at which the process had recorded as many operations as it may, on the clock of rank 0; null: never. */
  readonly boundAt: number | null
  /** The number of operations on communicators without a number, which are not recorded. */
  readonly leftOut: number
  kind(record: number): number
  /** Returns the ns on the clock of rank 0, as measured at both ends. */
  time(record: number): number
  communicator(record: number): number
  peer(record: number): number
  tag(record: number): number
  value(record: number): number
  /** Returns source and tag of the message that a probe has found; null: none. */
  found(record: number): readonly [source: number, tag: number] | null
  /** Returns the name of a communicator, which is equal in all processes. */
  name(record: number): string
}

/**
 * Reads the records of one process. They end where the process was killed, or at the last one.
 *
 * @param file its name, for errors
 * @throws ERR_FILE naming the file, for bytes that the library of this version has not written on such a machine
 */
export function readCallRecords(file: string, bytes: Uint8Array): CallRecords {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const word = (record: number, at: number) => view.getInt32(record * recordBytes + at, true)
  /** Reads an integer. Integers above 2^53 lose their last bits: nanoseconds after 104 days. */
  const long = (record: number, at: number) =>
    word(record, at + 4) * 2 ** 32 + view.getUint32(record * recordBytes + at, true)
  const kind = (record: number) => word(record, 16)
  let records = 0
  while ((records + 1) * recordBytes <= bytes.length && kind(records) !== 0) records++
  const wrong = (expected: string) =>
    fileError('read', file, `expected ${expected}; the preloaded library of this version has not written it`)
  if (records === 0 || kind(0) !== callRecordKind.header) throw wrong('a header')
  if (word(0, 20) !== version) throw wrong(`version ${version}, got ${word(0, 20)}`)
  const [rank, ranks] = [word(0, 24), word(0, 28)]
  if (ranks < 1 || rank < 0 || rank >= ranks) throw wrong(`a rank below ${ranks}, got ${rank}`)
  if (records < 2 || kind(1) !== callRecordKind.run) throw wrong('the number of a run')
  let bound = -1
  for (let record = 2; record < records; record++) {
    const found = kind(record)
    if (found < callRecordKind.communicator || found > callRecordKind.end)
      throw wrong('a known kind of record')
    const number = word(record, 20)
    if (number < 0 || number >= mostCommunicators)
      throw wrong(`a communicator from 0 to ${mostCommunicators - 1}, got ${number}`)
    if (found === callRecordKind.bound) bound = record
  }
  const last = records - 1
  const isEnded = kind(last) === callRecordKind.end
  const [begin, offset] = [long(0, 0), long(0, 8)]
  const drift = isEnded && long(last, 0) > begin ? (long(last, 8) - offset) / (long(last, 0) - begin) : 0
  const time = (record: number) => {
    const own = long(record, 0)
    return own - offset - drift * (own - begin)
  }
  return {
    ...{ file, run: view.getBigInt64(recordBytes + 8, true).toString(), rank, ranks, records, isEnded },
    ...{ kind, time },
    boundAt: bound < 0 ? null : time(bound),
    leftOut: isEnded ? word(last, 24) : 0,
    communicator: (record) => word(record, 20),
    peer: (record) => word(record, 24),
    tag: (record) => word(record, 28),
    value: (record) => long(record, 8),
    found: (record) => (word(record, 12) < 0 ? null : [word(record, 12), word(record, 8)]),
    name: (record) => `${view.getBigInt64(record * recordBytes, true)}:${long(record, 8)}`,
  }
}
