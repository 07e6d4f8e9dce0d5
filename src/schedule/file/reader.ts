import { checkTopology } from '../../topology/check-topology.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'
import type { NeighborSchedule } from '../ir.js'
import { OperationLog } from '../operation-log.js'
import type { ScheduleSlice } from '../schedule-slice.js'
import { neighborAllgatherSpecification } from '../specification.js'
import { readHeader, type ScheduleFileHeader } from './header.js'
import { readRankLine } from './rank-line.js'
import { failAtLine, parseLine, type Reject, shown } from './reject.js'

/**
 * Reads a schedule line by line: give every line to `line`, then call `schedule` or `slice`. Blank lines are
 * skipped; rank lines may come in any order.
 */
export class ScheduleReader {
  readonly #source: string
  #lineNumber = 0
  #header: ScheduleFileHeader | null = null
  #log = new OperationLog(0)
  #out: (Int32Array | undefined)[] = []
  #in: Int32Array[] = []
  #staging = new Int32Array(0)
  #isExpected: Uint8Array | null = null
  #found = 0

  /** @param source name of the lines in messages, e.g. the file. */
  constructor(source = 'schedule') {
    this.#source = source
  }

  /** @throws ERR_SCHEDULE_FORMAT with the line number */
  line(text: string): void {
    this.#lineNumber++
    if (text.trim() === '') return
    const value = parseLine(text, this.#source, this.#lineNumber)
    if (this.#header === null) this.#readHeader(value)
    else this.#readRank(value, this.#header)
  }

  /** The whole schedule. @throws ERR_SCHEDULE_FORMAT when ranks are missing, it is a slice, or the hash is wrong */
  schedule(): NeighborSchedule {
    const header = this.#complete()
    if (header.slice !== null) {
      this.#fail(`expected a whole schedule, got a slice of ${header.slice.length} of ${header.ranks} ranks`)
    }
    const schedule = this.#build(header)
    const hash = topologyHash(schedule.topology)
    if (hash !== header.topologyHash) {
      this.#fail(
        `expected the topology hash ${header.topologyHash} of the header, got ${hash} from the rank lines`,
      )
    }
    try {
      checkTopology(schedule.topology)
    } catch (cause) {
      this.#fail(`expected a topology: ${cause instanceof Error ? cause.message : cause}`, cause)
    }
    return schedule
  }

  /** The ranks of a slice; of a whole schedule, all. @throws ERR_SCHEDULE_FORMAT when ranks are missing */
  slice(): ScheduleSlice {
    const header = this.#complete()
    const ranks = header.slice === null ? Array.from({ length: header.ranks }, (_, r) => r) : header.slice
    return {
      schedule: this.#build(header),
      ranks: Int32Array.from(ranks),
      topologyHash: header.topologyHash,
    }
  }

  #readHeader(value: unknown): void {
    const header = readHeader(value, this.#reject)
    const { ranks, slice } = header
    if (slice !== null) {
      this.#isExpected = new Uint8Array(ranks)
      for (const rank of slice) this.#isExpected[rank] = 1
    }
    this.#header = header
    this.#log = new OperationLog(ranks)
    this.#staging = new Int32Array(ranks)
  }

  #readRank(value: unknown, header: ScheduleFileHeader): void {
    const line = readRankLine(value, header, this.#log, this.#reject)
    const { rank } = line
    if (this.#out[rank] !== undefined) this.#reject('rank', 'each rank once', `rank ${rank} again`)
    if (this.#isExpected?.[rank] === 0) this.#reject('rank', 'a rank of the slice in the header', rank)
    this.#out[rank] = Int32Array.from(line.out)
    this.#in[rank] = Int32Array.from(line.in)
    this.#staging[rank] = line.staging
    this.#found++
  }

  #complete(): ScheduleFileHeader {
    const header = this.#header
    if (header === null) this.#fail('expected a header line, got nothing')
    const expected = header.slice?.length ?? header.ranks
    if (this.#found < expected) {
      const ranks = header.slice ?? Array.from({ length: header.ranks }, (_, rank) => rank)
      const missing = ranks.find((rank) => this.#out[rank] === undefined)
      this.#fail(`expected ${expected} rank lines, got ${this.#found}: rank ${missing} is missing`)
    }
    return header
  }

  #build({ cart, pairing, parameters, phases, ranks, strategy }: ScheduleFileHeader): NeighborSchedule {
    const [outStart, outRank] = rows(this.#out, ranks)
    const [inStart, inRank] = rows(this.#in, ranks)
    const topology: ProcessTopology = {
      ranks,
      outStart,
      outRank,
      outWeight: null,
      inStart,
      inRank,
      inWeight: null,
      pairing,
      cart,
    }
    const specification = neighborAllgatherSpecification(topology)
    const head = { specification, topology, strategy, parameters, staging: this.#staging }
    return Object.freeze({ ...head, ...this.#log.operations(), phases })
  }

  readonly #reject: Reject = (where, expected, got) =>
    this.#fail(`${where}: expected ${expected}, got ${shown(got)}`)

  #fail(message: string, cause?: unknown): never {
    return failAtLine(this.#source, this.#lineNumber, message, cause)
  }
}

function rows(lists: readonly (Int32Array | undefined)[], ranks: number): [Int32Array, Int32Array] {
  const start = new Int32Array(ranks + 1)
  for (let rank = 0; rank < ranks; rank++) start[rank + 1] = start[rank] + (lists[rank]?.length ?? 0)
  const all = new Int32Array(start[ranks])
  for (let rank = 0; rank < ranks; rank++) all.set(lists[rank] ?? [], start[rank])
  return [start, all]
}

/**
 * Reads a schedule from its lines. The result has passed all checks except `verify`.
 *
 * @throws ERR_SCHEDULE_FORMAT with the line number, what was expected and what arrived
 */
export function parseSchedule(lines: Iterable<string>, source?: string): NeighborSchedule {
  const reader = new ScheduleReader(source)
  for (const line of lines) reader.line(line)
  return reader.schedule()
}

/** {@link parseSchedule} of an asynchronous stream of lines. */
export async function parseScheduleStream(
  lines: AsyncIterable<string>,
  source?: string,
): Promise<NeighborSchedule> {
  const reader = new ScheduleReader(source)
  for await (const line of lines) reader.line(line)
  return reader.schedule()
}

/** Reads a slice; of a whole schedule, all ranks. @throws ERR_SCHEDULE_FORMAT */
export function parseScheduleSlice(lines: Iterable<string>, source?: string): ScheduleSlice {
  const reader = new ScheduleReader(source)
  for (const line of lines) reader.line(line)
  return reader.slice()
}
