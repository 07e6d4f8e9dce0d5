import { GrowingFloat64Array } from '../base/growing-array.js'
import type { MatchingOperation, TraceHeader } from '../messages/matching-queues/matching-trace.js'
import { fileError } from '../text/whole-file.js'
import { type CallRecords, callRecordKind, cancelledPeer } from './matching-calls.js'

/** The trace of one process of a recorded program. */
export interface RecordedProcess {
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
