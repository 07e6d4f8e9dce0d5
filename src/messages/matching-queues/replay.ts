import { wrongValue } from '../../errors.js'
import {
  type MatchingCounters,
  type MatchingDesign,
  type MatchingQueue,
  matchingTraffic,
  type ProcessFacts,
  type QueueCounts,
  QueueElement,
} from './design.js'
import { makeMatchingDesign, type NamedDesign } from './designs.js'
import { ANY_SOURCE } from './entry-list.js'
import { checkOperation, type MatchingOperation, type OperationFields } from './matching-trace.js'

/** The two queues of one process, for traces without an end. Memory grows with the longest queues only. */
export class MatchingReplay {
  readonly posted: MatchingDesign<QueueElement>
  readonly unexpected: MatchingDesign<QueueElement>
  readonly #facts: ProcessFacts
  /** The posted receives by their numbers, for cancels. */
  readonly #waiting = new Map<number, QueueElement>()
  readonly #lengths = { posted: new QueueLengths(), unexpected: new QueueLengths() }
  #receives = 0
  #messages = 0
  operations = 0

  /** @throws ERR_ARGUMENT as of `makeMatchingDesign` */
  constructor(design: NamedDesign, facts: ProcessFacts) {
    this.#facts = facts
    this.posted = makeMatchingDesign(design, 'posted', facts)
    this.unexpected = makeMatchingDesign(design, 'unexpected', facts)
  }

  /**
   * Carries out the next operation of the trace.
   *
   * @returns -1 if nothing was found. For a receive and for probes, the number of the message that they have found. For
   *   a message, the number of the receive that has got it. For a cancel, that of the receive if it has been taken
   *   back. Receives and messages are counted separately from 0.
   * @throws ERR_ARGUMENT
   */
  apply(operation: MatchingOperation): number {
    checkOperation(operation, this.operations, this.#facts)
    const result = operation.kind === 'cancel' ? this.#cancel(operation.receive) : this.#match(operation)
    this.operations++
    this.#lengths.posted.note(this.posted.size)
    this.#lengths.unexpected.note(this.unexpected.size)
    return result
  }

  report(queue: MatchingQueue): QueueReport {
    return this.#lengths[queue].report(this[queue], this.operations)
  }

  #match(operation: Exclude<MatchingOperation, { readonly kind: 'cancel' }>): number {
    switch (operation.kind) {
      case 'post': {
        const receive = queueElement(this.#receives++, operation)
        const message = this.unexpected.search(receive)
        if (message !== undefined) return message.number
        this.posted.insert(receive)
        this.#waiting.set(receive.number, receive)
        this.#lengths.posted.inserted++
        return -1
      }
      case 'arrive': {
        const message = queueElement(this.#messages++, operation)
        const receive = this.posted.search(message)
        if (receive !== undefined) {
          this.#waiting.delete(receive.number)
          return receive.number
        }
        this.unexpected.insert(message)
        this.#lengths.unexpected.inserted++
        return -1
      }
      case 'probe':
        return this.unexpected.peek(queueElement(-1, operation))?.number ?? -1
      case 'mprobe':
        return this.unexpected.search(queueElement(-1, operation))?.number ?? -1
    }
  }

  #cancel(number: number): number {
    if (number >= this.#receives)
      throw wrongValue(
        'ERR_ARGUMENT',
        `operation ${this.operations}: expected receive, one of ${this.#receives} posts before`,
        number,
      )
    const receive = this.#waiting.get(number)
    if (receive === undefined) return -1
    this.#waiting.delete(number)
    this.posted.remove(receive)
    return number
  }
}

/** Returns the element of an operation. */
function queueElement(number: number, fields: OperationFields): QueueElement {
  return new QueueElement(number, fields, matchingTraffic(fields.collective))
}

/** The report of a replay about one queue. */
export interface QueueReport extends MatchingCounters {
  /** The elements that were added to it; the others were matched at once. */
  readonly inserted: number
  /** The elements that are left in it. */
  readonly size: number
  /** The most elements at any time. */
  readonly longest: number
  /** The mean number of elements in it after an operation; 0 without any. */
  readonly meanLength: number
}

/** Counts insertions into one queue, and its lengths after each operation of a replay. */
export class QueueLengths {
  inserted = 0
  #longest = 0
  #sum = 0

  note(length: number): void {
    if (length > this.#longest) this.#longest = length
    this.#sum += length
  }

  /** @param operations after which a length was noted */
  report(queue: Pick<MatchingDesign, 'counters' | 'size'>, operations: number): QueueReport {
    const meanLength = operations === 0 ? 0 : this.#sum / operations
    const { inserted } = this
    return { ...queue.counters(), inserted, size: queue.size, longest: this.#longest, meanLength }
  }
}

/**
 * Counts, for designs that start from an earlier run, the elements that a trace adds to each queue.
 *
 * @throws ERR_ARGUMENT for a malformed operation
 * @see Ghazimirsaeed 2019 chapter 3 (a row of the profiling matrices of both queues)
 */
export function countSources(trace: Iterable<MatchingOperation>, facts: ProcessFacts): QueueCounts {
  const counts = { posted: new Map<number, Float64Array>(), unexpected: new Map<number, Float64Array>() }
  const replay = new MatchingReplay({ name: 'index' }, facts)
  for (const operation of trace) {
    const wasMatched = replay.apply(operation) >= 0
    if (wasMatched || (operation.kind !== 'post' && operation.kind !== 'arrive')) continue
    const { kind, context, source } = operation
    if (source === ANY_SOURCE) continue
    const rows = counts[kind === 'post' ? 'posted' : 'unexpected']
    const row = rows.get(context) ?? new Float64Array(facts.processes)
    rows.set(context, row)
    row[source]++
  }
  return counts
}
