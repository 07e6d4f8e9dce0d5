import { requireText } from '../../base/known-options.js'
import { checkTopology, type ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'
import type { Schedule, ScheduleSlice } from '../ir.js'
import {
  blockCount,
  isNeighborCollective,
  isSameSpecification,
  neighborSpecification,
  type Specification,
  upTo,
} from '../specification.js'
import { requireLines } from './checked-values.js'
import { FileContent } from './file-content.js'
import { readScheduleHeader } from './read-header.js'
import { failAtLine, parseLine, type Reject, shownJson } from './reject.js'

/**
 * Reads a schedule line by line: pass every line to `line`, then call `schedule` or `slice`. Blank lines are skipped;
 * rank lines may come in any order.
 */
export class ScheduleReader {
  readonly #source: string
  #lineNumber = 0
  #content: FileContent | null = null

  /** @param source name of the lines in messages, e.g. the file. */
  constructor(source = 'schedule') {
    requireText('name of a schedule', source)
    this.#source = source
  }

  /** @throws ERR_SCHEDULE_FORMAT with the line number */
  line(text: string): void {
    this.#lineNumber++
    requireText('line of a schedule', text)
    if (text.trim() === '') return
    const value = parseLine(text, this.#source, this.#lineNumber)
    if (this.#content === null) this.#content = new FileContent(readScheduleHeader(value, this.#reject))
    else this.#content.add(value, this.#reject)
  }

  /**
   * Returns the whole schedule.
   *
   * @throws ERR_SCHEDULE_FORMAT when ranks are missing, it is a slice, no rank holds a block, or the hash is wrong
   */
  schedule(): Schedule {
    const content = this.#complete()
    const { slice, ranks } = content.header
    if (slice !== null)
      this.#fail(`expected a whole schedule, got a slice of ${slice.length} of ${ranks} ranks`)
    const schedule = content.schedule()
    const block = blockOfNoRank(schedule.specification)
    if (block !== null) this.#fail(`own: expected every block at some rank, got none with block ${block}`)
    if (schedule.topology !== null) {
      this.#checkTopology(schedule.topology, content.topologyFacts?.hash)
      this.#checkDemand(schedule.specification, schedule.topology)
    }
    return schedule
  }

  /** Returns the ranks of a slice; of a whole schedule, all. @throws ERR_SCHEDULE_FORMAT when ranks are missing */
  slice(): ScheduleSlice {
    const content = this.#complete()
    const { slice, ranks } = content.header
    return {
      schedule: content.schedule(),
      ranks: slice === null ? upTo(ranks) : Int32Array.from(slice),
      topologyHash: content.topologyFacts?.hash ?? null,
    }
  }

  #complete(): FileContent {
    if (this.#content === null) this.#fail('expected a header line, got nothing')
    const missing = this.#content.missing()
    if (missing !== null) this.#fail(missing)
    return this.#content
  }

  #checkTopology(topology: ProcessTopology, expected: string | undefined): void {
    const hash = topologyHash(topology)
    if (hash !== expected)
      this.#fail(`expected the topology hash ${expected} of the header, got ${hash} from the rank lines`)
    try {
      checkTopology(topology)
    } catch (cause) {
      this.#fail(`expected a topology: ${cause instanceof Error ? cause.message : cause}`, cause)
    }
  }

  #checkDemand(specification: Specification, topology: ProcessTopology): void {
    const { collective } = specification
    if (!isNeighborCollective(collective)) return
    if (isSameSpecification(specification, neighborSpecification(collective, topology))) return
    this.#fail(
      `expected parts, own blocks and slots as a ${collective} over the topology demands, got others`,
    )
  }

  readonly #reject: Reject = (where, expected, got) =>
    this.#fail(`${where}: expected ${expected}, got ${shownJson(got)}`)

  #fail(message: string, cause?: unknown): never {
    return failAtLine(this.#source, this.#lineNumber, message, cause)
  }
}

/**
 * Returns the first block that no rank holds at the start; null if there is none. Memory is proportional to the own
 * blocks.
 */
function blockOfNoRank(specification: Specification): number | null {
  const { ownBlock } = specification
  const isHeld = new Uint8Array(Math.min(blockCount(specification), ownBlock.length + 1))
  for (const block of ownBlock) isHeld[block] = 1
  const first = isHeld.indexOf(0)
  return first === -1 ? null : first
}

/**
 * Reads a schedule from its lines, or from their text. The result has passed all checks except `verify`.
 *
 * @throws ERR_SCHEDULE_FORMAT with the line number, what was expected and what arrived
 */
export function parseSchedule(lines: Iterable<string>, source?: string): Schedule {
  const reader = new ScheduleReader(source)
  for (const line of linesOf(lines)) reader.line(line)
  return reader.schedule()
}

/** Reads a schedule as {@link parseSchedule} does, from an asynchronous stream of lines. */
export async function parseScheduleStream(lines: AsyncIterable<string>, source?: string): Promise<Schedule> {
  const reader = new ScheduleReader(source)
  requireLines('parseScheduleStream', lines)
  for await (const line of lines) reader.line(line)
  return reader.schedule()
}

/** Reads a slice; of a whole schedule, all ranks. @throws ERR_SCHEDULE_FORMAT */
export function parseScheduleSlice(lines: Iterable<string>, source?: string): ScheduleSlice {
  const reader = new ScheduleReader(source)
  for (const line of linesOf(lines)) reader.line(line)
  return reader.slice()
}

/** Refuses a text, which is an iterable of characters but never a list of lines. */
function linesOf(lines: Iterable<string>): Iterable<string> {
  requireLines('lines of a schedule', lines)
  return typeof lines === 'string' ? lines.split('\n') : lines
}
