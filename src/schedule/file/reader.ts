import { requireText } from '../../base/known-options.js'
import { checkTopology, type ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'
import { opKind, partialResult, type Schedule, type ScheduleSlice } from '../ir.js'
import { addEntry, OperationLog } from '../operation-log.js'
import {
  blockCount,
  isNeighborCollective,
  isSameSpecification,
  neighborAllgatherSpecification,
  neighborSpecification,
  type Specification,
  upTo,
} from '../specification.js'
import {
  arrayOf,
  failAtLine,
  integer,
  integers,
  isIntegerBelow,
  type Json,
  limit,
  objectOf,
  objectWith,
  parseLine,
  type Reject,
  requireLines,
  shownJson,
} from './checked-values.js'
import type { FormatVersion } from './header.js'
import {
  type BlockRun,
  blocksIn,
  RankRows,
  readScheduleHeader,
  type ScheduleFileHeader,
  type SlotTerm,
  SpecificationRows,
  type TopologyFacts,
  topologyFactsIn,
} from './header.js'

/**
 * Reads a schedule line by line: pass every line to `line`, then call `schedule` or `slice`. Blank lines are skipped;
 * rank lines may come in any order.
 */
class ScheduleReader {
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

/** The contents of a schedule file's lines, collected rank by rank in any order. */
class FileContent {
  readonly header: ScheduleFileHeader
  readonly topologyFacts: TopologyFacts | null
  readonly #bounds: LineBounds
  readonly #log: OperationLog
  readonly #staging: Int32Array
  /** The state of each rank: 1 if its line may come, 2 if it has come. */
  readonly #state: Uint8Array
  /** The neighbors; null without a topology. */
  readonly #out: RankRows | null
  readonly #in: RankRows | null
  /** The specification; null in a neighbor allgather, whose specification follows from the topology even of a slice. */
  readonly #specification: SpecificationRows | null
  #found = 0
  /** The number of elements in the lists of ranks, blocks and slots of all lines, which are counted with 32 bits. */
  #listed = 0

  constructor(header: ScheduleFileHeader) {
    const { collective, phases, ranks, slice, version } = header
    this.header = header
    this.topologyFacts = topologyFactsIn(header)
    const hasTopology = this.topologyFacts !== null
    this.#bounds = { version, collective, ranks, phases, hasTopology, blocks: blocksIn(header) }
    this.#log = new OperationLog(ranks)
    this.#staging = new Int32Array(ranks)
    this.#state = new Uint8Array(ranks)
    if (slice === null) this.#state.fill(1)
    else for (const rank of slice) this.#state[rank] = 1
    this.#out = hasTopology ? new RankRows(ranks) : null
    this.#in = hasTopology ? new RankRows(ranks) : null
    const follows = hasTopology && collective === 'neighbor-allgather'
    this.#specification = follows || version === 1 ? null : new SpecificationRows(header)
  }

  add(value: unknown, reject: Reject): void {
    const line = readRankLine(value, this.#bounds, this.#log, reject)
    const { rank } = line
    if (this.#state[rank] === 2) reject('rank', 'each rank once', `rank ${rank} again`)
    if (this.#state[rank] === 0) reject('rank', 'a rank of the slice in the header', rank)
    this.#listed += line.out.length + line.in.length + line.own.length + line.slots.length
    if (this.#listed >= limit)
      reject('the line', `fewer than ${limit} elements in the lists so far`, this.#listed)
    this.#state[rank] = 2
    this.#found++
    this.#staging[rank] = line.staging
    this.#specification?.add(rank, line.own, line.slots)
    this.#out?.set(rank, line.out)
    this.#in?.set(rank, line.in)
  }

  /** Returns why the lines are not complete; null if they are. */
  missing(): string | null {
    const expected = this.header.slice?.length ?? this.header.ranks
    if (this.#found === expected) return null
    return `expected ${expected} rank lines, got ${this.#found}: rank ${this.#state.indexOf(1)} is missing`
  }

  schedule(): Schedule {
    const { parameters, phases, strategy } = this.header
    const topology = this.#topology()
    const specification = this.#specificationFor(topology)
    const head = { specification, topology, strategy, parameters, staging: this.#staging }
    return Object.freeze({ ...head, ...this.#log.operations(), phases })
  }

  #topology(): ProcessTopology | null {
    if (this.topologyFacts === null || this.#out === null || this.#in === null) return null
    const { cart, pairing } = this.topologyFacts
    const { ranks } = this.header
    const [outStart, outRank] = this.#out.compressed()
    const [inStart, inRank] = this.#in.compressed()
    return { ranks, outStart, outRank, outWeight: null, inStart, inRank, inWeight: null, pairing, cart }
  }

  #specificationFor(topology: ProcessTopology | null): Specification {
    return this.#specification?.build() ?? neighborAllgatherSpecification(topology!)
  }
}

/** A rank line without its operations. Lists that the version or the lack of a topology excludes are empty. */
interface RankLine {
  readonly rank: number
  readonly staging: number
  readonly out: readonly number[]
  readonly in: readonly number[]
  readonly own: readonly number[]
  readonly slots: readonly SlotTerm[]
}

/** The facts of the header against which rank lines are checked. */
type LineBounds = Pick<ScheduleFileHeader, 'version' | 'ranks' | 'phases' | 'collective'> & {
  readonly hasTopology: boolean
  readonly blocks: number
}

const keysOf = {
  version1: ['rank', 'out', 'in', 'staging', 'phases'],
  topology: ['rank', 'out', 'in', 'own', 'slots', 'staging', 'phases'],
  others: ['rank', 'own', 'slots', 'staging', 'phases'],
}

/**
 * Checks a rank line and appends its operations to the log. `verify` checks whether the blocks and places
 * that operations name exist; own blocks and slots are checked here.
 */
function readRankLine(line: unknown, bounds: LineBounds, log: OperationLog, reject: Reject): RankLine {
  const { blocks, collective, hasTopology, ranks, version } = bounds
  const keys = version === 1 ? keysOf.version1 : hasTopology ? keysOf.topology : keysOf.others
  const object = objectWith(line, keys, 'the line', reject)
  const rank = integer(object['rank'], ranks, 'rank', reject)
  if (version === 1) readAllPhases(object['phases'], rank, bounds, log, reject)
  else readPhases(object['phases'], rank, bounds, log, reject)
  const out = hasTopology ? integers(object['out'], ranks, 'out', reject) : []
  const sources = hasTopology ? integers(object['in'], ranks, 'in', reject) : []
  const own = version === 1 ? [rank] : integers(object['own'], blocks, 'own', reject)
  const slots = version === 1 ? sources : readSlots(object['slots'], blocks, reject)
  const staging = integer(object['staging'], limit, 'staging', reject)
  // The demands of other collectives follow from several lines.
  if (hasTopology && collective === 'neighbor-allgather') {
    requireSame(own, [rank], 'own', 'the block of the rank, as there is a topology', reject)
    requireSame(slots, sources, 'slots', 'the sources in "in", as there is a topology', reject)
  }
  if (own.length + slots.length + staging >= limit)
    reject('staging', `fewer than ${limit} places of a rank`, staging)
  return { rank, staging, out, in: sources, own, slots }
}

/** Reads version 1, which has an object for each phase of the header. */
function readAllPhases(
  list: unknown,
  rank: number,
  bounds: LineBounds,
  log: OperationLog,
  reject: Reject,
): void {
  const { phases } = bounds
  if (!Array.isArray(list) || list.length !== phases)
    reject('phases', `an array of the ${phases} phases in the header`, list)
  for (let phase = 0; phase < phases; phase++) {
    const object = objectOf(list[phase], `phases[${phase}]`, reject)
    for (const name in object) {
      if (name === 'send' || name === 'receive' || name === 'copy') continue
      reject(`phases[${phase}]`, 'only "send", "receive" and "copy"', name)
    }
    const target = { ...bounds, log, rank, phase }
    readList(object['send'], () => `phases[${phase}].send`, readSend, target, reject)
    readList(object['receive'], () => `phases[${phase}].receive`, readReceive, target, reject)
    readList(object['copy'], () => `phases[${phase}].copy`, readCopy, target, reject)
  }
}

/** Reads the phases in which the rank has operations, ascending. */
function readPhases(
  value: unknown,
  rank: number,
  bounds: LineBounds,
  log: OperationLog,
  reject: Reject,
): void {
  const list = arrayOf(value, 'phases', reject)
  let before = -1
  for (let i = 0; i < list.length; i++) {
    const object = objectOf(list[i], `phases[${i}]`, reject)
    for (const name in object) {
      if (name === 'phase' || name === 'send' || name === 'receive' || name === 'local') continue
      reject(`phases[${i}]`, 'only "phase", "send", "receive" and "local"', name)
    }
    const phase = integer(object['phase'], bounds.phases, `phases[${i}].phase`, reject)
    if (phase <= before) reject(`phases[${i}].phase`, `a phase above ${before}, the one before`, phase)
    before = phase
    const target: PhaseTarget = { ...bounds, log, rank, phase }
    readList(object['send'], () => `phases[${i}].send`, readSend, target, reject)
    readList(object['receive'], () => `phases[${i}].receive`, readReceive, target, reject)
    readList(object['local'], () => `phases[${i}].local`, readLocal, target, reject)
  }
}

function readSlots(value: unknown, blocks: number, reject: Reject): readonly SlotTerm[] {
  const list = arrayOf(value, 'slots', reject)
  return list.map((term, slot) => {
    if (isIntegerBelow(term, blocks)) return term as number
    if (typeof term !== 'object' || term === null)
      reject(`slots[${slot}]`, `a block from 0 to ${blocks - 1}, or { reduce } with runs of blocks`, term)
    const where = `slots[${slot}].reduce`
    const runs = arrayOf(objectWith(term, ['reduce'], `slots[${slot}]`, reject)['reduce'], where, reject)
    if (runs.length === 0) reject(where, 'at least one run', runs)
    for (let i = 0; i < runs.length; i++) {
      if (!isRun(runs[i], blocks))
        reject(`${where}[${i}]`, `[first, count, stride] of blocks from 0 to ${blocks - 1}`, runs[i])
    }
    return runs as readonly BlockRun[]
  })
}

function isRun(value: unknown, blocks: number): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [first, count, stride] = value
  if (!isIntegerBelow(first, blocks) || !isIntegerBelow(count, limit) || !isIntegerBelow(stride, limit))
    return false
  return count > 0 && (stride > 0 || count === 1) && first + (count - 1) * stride < blocks
}

function requireSame(
  given: readonly unknown[],
  expected: readonly number[],
  where: string,
  what: string,
  reject: Reject,
): void {
  if (given.length === expected.length && expected.every((value, i) => given[i] === value)) return
  reject(where, what, given)
}

/** The phase of a rank whose operations are read. */
interface PhaseTarget {
  readonly version: FormatVersion
  readonly ranks: number
  readonly log: OperationLog
  readonly rank: number
  readonly phase: number
}

/** Checks one operation of a list, and appends it to the log. */
type ReadOperation = (value: unknown, target: PhaseTarget, reject: Reject) => void

/** Reads a list of operations, which may be absent. `where` is its phase, for messages. */
function readList(
  list: unknown,
  where: () => string,
  read: ReadOperation,
  target: PhaseTarget,
  reject: Reject,
): void {
  if (list === undefined) return
  if (!Array.isArray(list)) reject(where(), 'an array', list)
  for (let i = 0; i < list.length; i++) {
    // The place in the line is formatted only for an error.
    read(list[i], target, (at, expected, got) =>
      reject(`${where()}[${i}]${at === '' ? '' : '.'}${at}`, expected, got),
    )
  }
}

const readSend = messageReader(opKind.send, 'to', 'read')
const readReceive = messageReader(opKind.receive, 'from', 'write')

function messageReader(kind: number, peer: string, place: string): ReadOperation {
  const keys = [peer, 'tag', 'blocks', place]
  const waitingKeys = [...keys, 'after']
  return (value, target, reject) => {
    const { log, rank, phase, ranks, version } = target
    const waits = version >= 3 && Object.hasOwn(Object(value), 'after')
    const operation = objectWith(value, waits ? waitingKeys : keys, '', reject)
    const peerRank = integer(operation[peer], ranks, peer, reject)
    log.open(rank, phase, kind, peerRank, integer(operation['tag'], limit, 'tag', reject))
    const blocks = readBlocks(operation, 'blocks', target, reject)
    const places = readPlaces(operation, place, blocks.length, reject)
    for (let e = 0; e < blocks.length; e++) addEntry(log, kind, blocks[e], places[e], -1)
    if (waits) log.wait(earlierPhase(operation['after'], phase, reject))
  }
}

function earlierPhase(after: unknown, phase: number, reject: Reject): number {
  if (!isIntegerBelow(after, phase)) reject('after', `a phase before its own, ${phase}`, after)
  return after as number
}

/** Reads a copy of version 1. */
const readCopy = copyReader('blocks')

const readNamedCopy = copyReader('copy')

function copyReader(name: string): ReadOperation {
  const keys = [name, 'read', 'write']
  return (value, target, reject) => {
    const { log, rank, phase } = target
    const operation = objectWith(value, keys, '', reject)
    log.open(rank, phase, opKind.copy, -1, 0)
    const blocks = readBlocks(operation, name, target, reject)
    const from = readPlaces(operation, 'read', blocks.length, reject)
    const to = readPlaces(operation, 'write', blocks.length, reject)
    for (let e = 0; e < blocks.length; e++) log.add(blocks[e], from[e], to[e])
  }
}

const combineKeys = ['combine', 'left', 'right', 'write']

/** Reads a copy or a combination. */
const readLocal: ReadOperation = (value, target, reject) => {
  const isCombination = typeof value === 'object' && value !== null && Object.hasOwn(value, 'combine')
  if (!isCombination) return readNamedCopy(value, target, reject)
  const { log, rank, phase } = target
  const operation = objectWith(value, combineKeys, '', reject)
  log.open(rank, phase, opKind.combine, -1, 0)
  const parts = integers(operation['combine'], limit, 'combine', reject)
  const left = readPlaces(operation, 'left', parts.length, reject)
  const right = readPlaces(operation, 'right', parts.length, reject)
  const to = readPlaces(operation, 'write', parts.length, reject)
  for (let e = 0; e < parts.length; e++) log.add(partialResult(parts[e]), left[e], to[e], right[e])
}

/** Reads blocks and, from version 2 on, partial results. */
function readBlocks(operation: Json, name: string, target: PhaseTarget, reject: Reject): readonly number[] {
  const list = operation[name]
  if (target.version === 1 || !Array.isArray(list)) return integers(list, limit, name, reject)
  return list.some(isObject)
    ? list.map((item, i) => readName(item, `${name}[${i}]`, reject))
    : integers(list, limit, name, reject)
}

function isObject(value: unknown): boolean {
  return typeof value === 'object'
}

function readName(value: unknown, where: string, reject: Reject): number {
  if (isIntegerBelow(value, limit)) return value as number
  const { partial } = (value ?? {}) as Json
  if (!isIntegerBelow(partial, limit) || Object.keys(value as Json).length !== 1)
    reject(where, `an integer from 0 to ${limit - 1}, or { partial } with one`, value)
  return partialResult(partial as number)
}

function readPlaces(operation: Json, name: string, count: number, reject: Reject): readonly number[] {
  const places = integers(operation[name], limit, name, reject)
  if (places.length !== count) reject('', `as many places as blocks, ${count}`, operation)
  return places
}
