import { GrowingFloat64Array } from '../base/growing-array.js'
import {
  type MatchingOperation,
  type TraceHeader,
  traceLines,
} from '../messages/matching-queues/matching-trace.js'
import { MatchingReplay, type QueueReport } from '../messages/matching-queues/replay.js'
import { fileError } from '../text/whole-file.js'

/** The trace of one process of a recorded program. */
interface RecordedProcess {
  readonly header: TraceHeader
  /** Whether it reached `MPI_Finalize`. */
  readonly isEnded: boolean
  /** The operations in order. Messages arrive in the order that {@link recordedMatching} infers. */
  readonly operations: Iterable<MatchingOperation>
  /**
   * The partners of each receive and each matched probe that has a message, in order: the number of the receive, -1 of
   * a probe, and the number of the message among the arrivals of the trace. Known after `operations` has been read.
   */
  readonly partners: ReadonlyMap<number, number>
}

/** The traces of a program, made from the records of its processes. */
export interface RecordedMatching {
  readonly processes: number
  /** Whether a process has recorded as many operations as it may: all traces end at that time. */
  readonly isBounded: boolean
  /** The number of messages to processes that never used their communicator: they are in no trace. */
  readonly lostMessages: number
  /** The number of operations on communicators that are not traced. */
  readonly leftOut: number
  /** Returns the trace of one process; it reads the records of that process. */
  process(rank: number): RecordedProcess
  /** Returns contexts of the traces by the numbers that communicators have in the records of a process. */
  contextsOf(rank: number): readonly number[]
}

/**
 * Merges what the processes of a program have recorded into traces of matching. Calls do not show when a message
 * arrives, so this function infers it:
 *
 * - a message arrives when its send starts, which is earlier than it really does;
 * - messages from one sender arrive in the order of its sends;
 * - a message arrives before the receive that got it is complete, before a probe returns that has found it, and
 *   before a cancel of its receive that came too late. The source and tag of a receive's status determine its message:
 *   of several receives with the same, the first that was posted got the first message.
 *
 * The traces end when the first process has recorded as many operations as it may: later messages of that process are
 * not known. Memory grows by 40 bytes per message of all processes, and by the records of one process at a time.
 *
 * @param read the records of a rank; called several times for each
 * @throws ERR_FILE naming the files, if records are of different runs or contradict each other
 */
export function recordedMatching(ranks: number, read: (rank: number) => CallRecords): RecordedMatching {
  const contexts = new Contexts(ranks)
  let end = Number.POSITIVE_INFINITY
  let leftOut = 0
  let first: { readonly file: string; readonly run: string } | undefined
  for (let rank = 0; rank < ranks; rank++) {
    const calls = read(rank)
    first ??= { file: calls.file, run: calls.run }
    if (calls.run !== first.run)
      throw fileError(
        'read',
        calls.file,
        `expected records of the same run as '${first.file}', got another run`,
      )
    if (calls.rank !== rank || calls.ranks !== ranks)
      throw fileError(
        'read',
        calls.file,
        `expected the records of rank ${rank} of ${ranks}, got those of rank ${calls.rank} of ${calls.ranks}`,
      )
    contexts.add(calls)
    end = Math.min(end, calls.boundAt ?? end)
    leftOut += calls.leftOut
  }
  const messages = Array.from({ length: ranks }, () => new GrowingFloat64Array())
  let lostMessages = 0
  for (let rank = 0; rank < ranks; rank++) lostMessages += addMessages(messages, read(rank), contexts, end)
  return {
    ...{ processes: ranks, isBounded: end < Number.POSITIVE_INFINITY, lostMessages, leftOut },
    process: (rank) => recordedProcess(read(rank), messages[rank].toArray(), contexts, end),
    contextsOf: (rank) => contexts.of(rank).map(({ context }) => context),
  }
}

interface Communicator {
  readonly context: number
  readonly ranks: number
  /** The world ranks of its ranks; -1 of those that never used it. */
  readonly worldRanks: Int32Array
}

/** A communicator as a process has it. */
interface OwnCommunicator {
  readonly context: number
  /** The rank of the process. */
  readonly own: number
  readonly communicator: Communicator
}

/** The communicators by their numbers in the records of a process. */
type OwnCommunicators = readonly (OwnCommunicator | undefined)[]

/** Returns the communicator of a record. @throws ERR_FILE if there was none of this number */
function ownCommunicator(own: OwnCommunicators, calls: CallRecords, record: number): OwnCommunicator {
  const found = own[calls.communicator(record)]
  if (found !== undefined) return found
  throw fileError('read', calls.file, `record ${record} has an unknown communicator`)
}

/** The communicators of all processes, numbered in the order of ranks. The world is 0. */
class Contexts {
  readonly #byName = new Map<string, Communicator>()
  readonly #ofRank: (readonly OwnCommunicator[])[] = []
  readonly #ranks: number

  constructor(ranks: number) {
    this.#ranks = ranks
  }

  add(calls: CallRecords): void {
    const own: OwnCommunicator[] = []
    for (let record = 1; record < calls.records; record++) {
      if (calls.kind(record) !== callRecordKind.communicator) continue
      const [name, rank, ranks] = [calls.name(record), calls.peer(record), calls.tag(record)]
      if (ranks < 1 || ranks > this.#ranks)
        throw fileError('read', calls.file, `a communicator has ${ranks} ranks, of ${this.#ranks}`)
      const communicator = this.#byName.get(name) ?? {
        context: this.#byName.size,
        ranks,
        worldRanks: new Int32Array(ranks).fill(-1),
      }
      this.#byName.set(name, communicator)
      if (communicator.ranks !== ranks || rank < 0 || rank >= communicator.worldRanks.length)
        throw fileError('read', calls.file, 'a communicator differs from that of other processes')
      communicator.worldRanks[rank] = calls.rank
      own[calls.communicator(record)] = { context: communicator.context, own: rank, communicator }
    }
    this.#ofRank[calls.rank] = own
  }

  of(rank: number): readonly OwnCommunicator[] {
    return this.#ofRank[rank]
  }
}

/** The number of fields of a message: ns when its send starts, context, source, tag, bytes. */
const fields = 5

/** Adds messages, and returns how many have no destination. */
function addMessages(
  messages: readonly GrowingFloat64Array[],
  calls: CallRecords,
  contexts: Contexts,
  end: number,
): number {
  const own = contexts.of(calls.rank)
  let lost = 0
  let latest = Number.NEGATIVE_INFINITY
  for (let record = 0; record < calls.records; record++) {
    if (calls.kind(record) !== callRecordKind.send) continue
    // Threads may record their sends in another order than that of their times.
    latest = Math.max(latest, calls.time(record))
    if (latest > end) break
    const { communicator, own: source } = ownCommunicator(own, calls, record)
    const destination = communicator.worldRanks[calls.peer(record)] ?? -1
    if (destination < 0) lost++
    else
      for (const value of [latest, communicator.context, source, calls.tag(record), calls.value(record)])
        messages[destination].push(value)
  }
  return lost
}

function recordedProcess(
  calls: CallRecords,
  messages: Float64Array,
  contexts: Contexts,
  end: number,
): RecordedProcess {
  const own = contexts.of(calls.rank)
  const outcome = receiveOutcomes(calls)
  const { deadlines, takers } = deadlinesOf(calls, messages, own, outcome, end)
  const arrivals = arrivalsOf(messages, deadlines)
  const partners = new Map<number, number>()
  const sizes = own
    .filter(({ communicator }) => communicator.ranks !== calls.ranks)
    .map(({ context, communicator }): [number, number] => [context, communicator.ranks])
  return {
    header: { processes: calls.ranks, rank: calls.rank, communicatorSizes: new Map(sizes) },
    isEnded: calls.isEnded,
    operations: {
      [Symbol.iterator]: () => operationsOf(calls, messages, own, { arrivals, takers, partners }, end),
    },
    partners,
  }
}

/** The outcomes of posts, by their numbers: the record with their status, and that of their cancel; 0: none. */
interface Outcomes {
  readonly done: Uint32Array
  readonly cancel: Uint32Array
}

function receiveOutcomes(calls: CallRecords): Outcomes {
  let posts = 0
  for (let record = 0; record < calls.records; record++)
    if (calls.kind(record) === callRecordKind.post) posts++
  const outcomes = { done: new Uint32Array(posts), cancel: new Uint32Array(posts) }
  for (let record = 0; record < calls.records; record++) {
    const kind = calls.kind(record)
    if (kind === callRecordKind.done) outcomes.done[calls.value(record)] = record
    if (kind === callRecordKind.cancel) outcomes.cancel[calls.value(record)] = record
  }
  return outcomes
}

/** The messages of one context, source and tag that no receive has taken yet. */
interface Waiting {
  readonly messages: number[]
  next: number
}

/** Returns the times before which messages have arrived, and the posts that got them: -1 without. */
function deadlinesOf(
  calls: CallRecords,
  messages: Float64Array,
  own: OwnCommunicators,
  { done, cancel }: Outcomes,
  end: number,
): { readonly deadlines: Float64Array; readonly takers: Int32Array } {
  const count = messages.length / fields
  const deadlines = new Float64Array(count).fill(Number.POSITIVE_INFINITY)
  const takers = new Int32Array(count).fill(-1)
  const byEnvelope = new Map<string, Waiting>()
  for (let message = 0; message < count; message++) {
    const at = message * fields
    const key = `${messages[at + 1]},${messages[at + 2]},${messages[at + 3]}`
    const waiting = byEnvelope.get(key)
    if (waiting === undefined) byEnvelope.set(key, { messages: [message], next: 0 })
    else waiting.messages.push(message)
  }
  const note = (record: number, source: number, tag: number, time: number, post: number | null) => {
    const { context } = ownCommunicator(own, calls, record)
    const waiting = byEnvelope.get(`${context},${source},${tag}`)
    const message = waiting?.messages[waiting.next]
    if (waiting === undefined || message === undefined) return
    deadlines[message] = Math.min(deadlines[message], time)
    if (post === null) return
    waiting.next++
    takers[message] = post
  }
  let post = -1
  for (let record = 0; record < calls.records; record++) {
    const kind = calls.kind(record)
    if (kind === callRecordKind.post) {
      post++
      const completion = done[post]
      if (completion === 0 || calls.peer(completion) === cancelledPeer || calls.time(record) > end) continue
      const last = cancel[post] === 0 ? completion : Math.min(cancel[post], completion)
      note(record, calls.peer(completion), calls.tag(completion), calls.time(last), post)
    } else if (kind === callRecordKind.probe || kind === callRecordKind.mprobe) {
      const found = calls.found(record)
      if (found === null || calls.time(record) > end) continue
      const taker = kind === callRecordKind.mprobe ? -1 : null
      note(record, found[0], found[1], calls.time(record), taker)
    }
  }
  return { deadlines, takers }
}

interface Arrivals {
  /** The numbers of messages in the order in which they arrive. */
  readonly order: Uint32Array
  /** The ns, by message. */
  readonly times: Float64Array
}

function arrivalsOf(messages: Float64Array, deadlines: Float64Array): Arrivals {
  const count = deadlines.length
  const times = new Float64Array(count)
  // Messages of one sender and context do not overtake each other.
  const latest = new Map<number, number>()
  for (let message = count - 1; message >= 0; message--) {
    const at = message * fields
    const stream = messages[at + 1] * 2 ** 24 + messages[at + 2]
    times[message] = Math.min(
      messages[at],
      deadlines[message],
      latest.get(stream) ?? Number.POSITIVE_INFINITY,
    )
    latest.set(stream, times[message])
  }
  const order = Uint32Array.from(times, (_, message) => message)
  return { order: order.sort((a, b) => times[a] - times[b] || a - b), times }
}

interface Inferred {
  readonly arrivals: Arrivals
  readonly takers: Int32Array
  readonly partners: Map<number, number>
}

function* operationsOf(
  calls: CallRecords,
  messages: Float64Array,
  own: OwnCommunicators,
  { arrivals, takers, partners }: Inferred,
  end: number,
): Generator<MatchingOperation> {
  const { order, times } = arrivals
  let arrived = 0
  let time = Number.NEGATIVE_INFINITY
  const next = (): MatchingOperation => {
    const message = order[arrived]
    const at = message * fields
    if (takers[message] >= 0) partners.set(takers[message], arrived)
    arrived++
    const [, context, source, tag, bytes] = messages.subarray(at, at + fields)
    return { kind: 'arrive', context, source, tag, bytes }
  }
  for (let record = 1; record < calls.records; record++) {
    const kind = calls.kind(record)
    if (kind === callRecordKind.communicator || kind === callRecordKind.send || kind >= callRecordKind.bound)
      continue
    // Threads may record in another order than that of their times.
    time = Math.max(time, calls.time(record))
    if (time > end) break
    while (arrived < order.length && times[order[arrived]] <= time) yield next()
    if (kind === callRecordKind.done) continue
    if (kind === callRecordKind.cancel) {
      yield { kind: 'cancel', receive: calls.value(record) }
      continue
    }
    const { context } = ownCommunicator(own, calls, record)
    const [source, tag] = [calls.peer(record), calls.tag(record)]
    if (kind === callRecordKind.post) yield { kind: 'post', context, source, tag, bytes: calls.value(record) }
    else yield { kind: kind === callRecordKind.probe ? 'probe' : 'mprobe', context, source, tag }
  }
  while (arrived < order.length) yield next()
}

/** The counts of a trace of a recorded process. */
export interface MatchingSummary {
  readonly operations: number
  readonly receives: number
  /** The number of messages, all with an inferred time of arrival. */
  readonly arrivals: number
  readonly posted: QueueReport
  readonly unexpected: QueueReport
  /** The number of receives that get another message in the trace than in the program: several could have matched. */
  readonly otherMatches: number
}

/** The lines of a trace, and a summary of those that have been taken. */
interface SummarizedTrace {
  /** The lines with their ends; to be taken once. */
  readonly lines: Iterable<string>
  summary(): MatchingSummary
}

/**
 * Makes the trace of a process. Memory grows with the queues, and with the receives by the messages that they get.
 *
 * @param isBounded whether traces end before the program does, which the last line says
 */
export function summarizedTrace(
  { header, operations, partners }: RecordedProcess,
  isBounded: boolean,
): SummarizedTrace {
  const replay = new MatchingReplay({ name: 'index' }, header)
  const messageOf = new Map<number, number>()
  let [receives, arrivals] = [0, 0]
  const replayed = function* () {
    for (const operation of operations) {
      const match = replay.apply(operation)
      if (operation.kind === 'post') {
        if (match >= 0) messageOf.set(receives, match)
        receives++
      } else if (operation.kind === 'arrive') {
        if (match >= 0) messageOf.set(match, arrivals)
        arrivals++
      }
      yield operation
    }
  }
  const lines = function* () {
    for (const line of traceLines(header, replayed(), { bounded: isBounded })) yield `${line}\n`
  }
  return {
    lines: { [Symbol.iterator]: lines },
    summary: () => {
      let otherMatches = 0
      for (const [receive, message] of partners) if (messageOf.get(receive) !== message) otherMatches++
      return {
        ...{ operations: replay.operations, receives, arrivals, otherMatches },
        posted: replay.report('posted'),
        unexpected: replay.report('unexpected'),
      }
    },
  }
}

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
const cancelledPeer = -2

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
