import { GrowingInt32Array } from '../base/growing-array.js'
import { indexIn } from '../base/search.js'
import { RankweaveError } from '../errors.js'
import { rowStarts } from '../topology/compressed-rows.js'
import { opKind, type Schedule } from './ir.js'

/** The operations of a schedule, and the number of phases that they need. */
type Operations = Pick<
  Schedule,
  | 'phases'
  | 'opStart'
  | 'opPhase'
  | 'opKind'
  | 'opPeer'
  | 'opTag'
  | 'opAfter'
  | 'entryStart'
  | 'entryBlock'
  | 'entryFrom'
  | 'entryRight'
  | 'entryTo'
>

/** The classes of operations: sends, then receives, then copies and combinations, which keep their order. */
const classes = 3
const classOf = (kind: number): number => (kind < opKind.copy ? kind : opKind.copy)

interface OperationLimits {
  readonly operations: number
  readonly entries: number
}

/** The most operations, and the most entries, of a schedule: together about 7 GB. */
export const operationLimits: OperationLimits = { operations: 2 ** 27, entries: 2 ** 28 }

/**
 * Operations are appended in any order and returned by rank, phase and class (sends, receives, copies and
 * combinations). Those of one rank, phase and class keep their order. The log checks nothing.
 */
export class OperationLog {
  readonly #ranks: number
  readonly #limits: OperationLimits
  readonly #rankOf = new GrowingInt32Array(1024)
  readonly #phaseOf = new GrowingInt32Array(1024)
  readonly #kinds = new GrowingInt32Array(1024)
  readonly #peers = new GrowingInt32Array(1024)
  readonly #tags = new GrowingInt32Array(1024)
  readonly #entryStarts = new GrowingInt32Array(1024)
  readonly #blocks = new GrowingInt32Array(4096)
  readonly #froms = new GrowingInt32Array(4096)
  readonly #tos = new GrowingInt32Array(4096)
  /** The right operands: empty until a combination is opened; then one per entry. */
  readonly #rights = new GrowingInt32Array(16)
  /** The waits: empty until an operation waits; then one per operation. */
  readonly #afters = new GrowingInt32Array(16)
  #hasCombinations = false
  #isSorted = true
  #lastRank = -1
  #lastPhase = -1
  #lastClass = -1
  #phases = 0

  constructor(ranks: number, limits: OperationLimits = operationLimits) {
    this.#ranks = ranks
    this.#limits = limits
  }

  /** @throws ERR_SCHEDULE for more operations than a schedule can have */
  open(rank: number, phase: number, kind: number, peer: number, tag: number): void {
    const classOfKind = classOf(kind)
    const isInOrder =
      rank > this.#lastRank ||
      (rank === this.#lastRank &&
        (phase > this.#lastPhase || (phase === this.#lastPhase && classOfKind >= this.#lastClass)))
    if (!isInOrder) this.#isSorted = false
    this.#lastRank = rank
    this.#lastPhase = phase
    this.#lastClass = classOfKind
    if (phase >= this.#phases) this.#phases = phase + 1
    if (this.#kinds.length === this.#limits.operations) throw tooMany('operations', this.#limits.operations)
    this.#rankOf.push(rank)
    this.#phaseOf.push(phase)
    this.#kinds.push(kind)
    this.#peers.push(peer)
    this.#tags.push(tag)
    this.#entryStarts.push(this.#blocks.length)
    if (kind === opKind.combine) this.#hasCombinations = true
  }

  /** Adds an entry to the operation opened last. @throws ERR_SCHEDULE for more entries than a schedule can have */
  add(block: number, from: number, to: number, right = -1): void {
    if (this.#blocks.length === this.#limits.entries) throw tooMany('entries', this.#limits.entries)
    if (this.#hasCombinations) {
      this.#padRights()
      this.#rights.push(right)
    }
    this.#blocks.push(block)
    this.#froms.push(from)
    this.#tos.push(to)
  }

  /** Lets the operation opened last wait for the phases up to this one. */
  wait(after: number): void {
    this.#padAfters(this.#kinds.length - 1)
    this.#afters.push(after)
  }

  #padAfters(count: number): void {
    while (this.#afters.length < count) this.#afters.push(-1)
  }

  #padRights(): void {
    while (this.#rights.length < this.#blocks.length) this.#rights.push(-1)
  }

  /** Ends the log and returns its operations. */
  operations(): Operations {
    if (this.#hasCombinations) this.#padRights()
    if (this.#afters.length > 0) this.#padAfters(this.#kinds.length)
    this.#entryStarts.push(this.#blocks.length)
    const ranks = this.#rankOf.view()
    const opStart = rowStarts(this.#ranks, ranks)
    const columns = this.#isSorted ? this.#asAppended() : this.#inOrder(opStart)
    return { phases: this.#phases, opStart, ...columns }
  }

  #asAppended() {
    return {
      opPhase: this.#phaseOf.toArray(),
      opKind: Uint8Array.from(this.#kinds.view()),
      opPeer: this.#peers.toArray(),
      opTag: this.#tags.toArray(),
      opAfter: this.#afters.toArray(),
      entryStart: this.#entryStarts.toArray(),
      entryBlock: this.#blocks.toArray(),
      entryFrom: this.#froms.toArray(),
      entryRight: this.#rights.toArray(),
      entryTo: this.#tos.toArray(),
    }
  }

  #inOrder(opStart: Int32Array) {
    const order = this.#order(opStart)
    const starts = this.#entryStarts.view()
    const hasCombinations = this.#hasCombinations
    const entries = this.#blocks.length
    const columns = {
      opPhase: new Int32Array(order.length),
      opKind: new Uint8Array(order.length),
      opPeer: new Int32Array(order.length),
      opTag: new Int32Array(order.length),
      opAfter: new Int32Array(this.#afters.length),
      entryStart: new Int32Array(order.length + 1),
      entryBlock: new Int32Array(entries),
      entryFrom: new Int32Array(entries),
      entryRight: new Int32Array(hasCombinations ? entries : 0),
      entryTo: new Int32Array(entries),
    }
    const [phases, kinds] = [this.#phaseOf.view(), this.#kinds.view()]
    const [peers, tags] = [this.#peers.view(), this.#tags.view()]
    const [blocks, froms, tos] = [this.#blocks.view(), this.#froms.view(), this.#tos.view()]
    const [rights, afters] = [this.#rights.view(), this.#afters.view()]
    let entry = 0
    for (let op = 0; op < order.length; op++) {
      const appended = order[op]
      columns.opPhase[op] = phases[appended]
      columns.opKind[op] = kinds[appended]
      columns.opPeer[op] = peers[appended]
      columns.opTag[op] = tags[appended]
      if (afters.length > 0) columns.opAfter[op] = afters[appended]
      for (let e = starts[appended]; e < starts[appended + 1]; e++, entry++) {
        columns.entryBlock[entry] = blocks[e]
        columns.entryFrom[entry] = froms[e]
        columns.entryTo[entry] = tos[e]
        if (hasCombinations) columns.entryRight[entry] = rights[e]
      }
      columns.entryStart[op + 1] = entry
    }
    return columns
  }

  /** Sorts by class, then phase, then rank (stable counting sorts). */
  #order(opStart: Int32Array): Int32Array {
    const [ranks, phases, kinds] = [this.#rankOf.view(), this.#phaseOf.view(), this.#kinds.view()]
    const count = kinds.length
    const byClass = new Int32Array(count)
    const next = new Int32Array(classes + 1)
    for (const kind of kinds) next[classOf(kind) + 1]++
    for (let c = 0; c < classes; c++) next[c + 1] += next[c]
    for (let op = 0; op < count; op++) byClass[next[classOf(kinds[op])]++] = op

    const byPhase = new Int32Array(count)
    // Few operations may be in phases far apart, so phases are numbered to keep memory proportional to operations.
    const [steps, stepOf] = this.#phases > count ? numbered(phases) : [this.#phases, phases]
    const nextOfStep = rowStarts(steps, stepOf)
    for (const op of byClass) byPhase[nextOfStep[stepOf[op]]++] = op

    const byRank = byClass
    const nextOfRank = opStart.slice()
    for (const op of byPhase) byRank[nextOfRank[ranks[op]]++] = op
    return byRank
  }
}

/** Returns the number of distinct values, and for each value its number in ascending order. */
function numbered(values: Int32Array): [count: number, numbers: Int32Array] {
  const distinct = values.slice().sort()
  let count = 0
  for (const value of distinct) if (count === 0 || value !== distinct[count - 1]) distinct[count++] = value
  const ascending = distinct.subarray(0, count)
  return [count, values.map((value) => indexIn(ascending, value))]
}

/** Returns the error of a schedule with more of something than it can hold. */
export function tooMany(what: string, most: number): RankweaveError {
  const message = `a schedule has at most ${most} ${what}: plan fewer ranks or segments, or some ranks alone`
  return new RankweaveError('ERR_SCHEDULE', message, { details: { [what]: most } })
}

/** Adds an entry of a send, receive or copy: sends only read, receives only write. */
export function addEntry(
  log: OperationLog,
  kind: number,
  block: number,
  place: number,
  copyTo: number,
): void {
  if (kind === opKind.send) log.add(block, place, -1)
  else if (kind === opKind.receive) log.add(block, -1, place)
  else log.add(block, place, copyTo)
}
