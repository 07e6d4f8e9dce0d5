import { GrowingInt32Array } from '../../base/growing-array.js'
import { wrongValue } from '../../errors.js'
import { collectives } from '../../schedule/specification.js'
import {
  type ElementFields,
  type MatchingDesign,
  type MatchingQueue,
  matchingQueues,
  matchingTraffic,
  type ProcessFacts,
  QueueElement,
} from './design.js'
import { makeMatchingDesign, type NamedDesign } from './designs.js'
import type { MatchingOperation } from './matching-trace.js'
import { QueueLengths, type QueueReport } from './replay.js'

/** A clock in milliseconds. */
type MatchingClock = () => number

/** The time after which a replay is stopped. */
export interface ReplayLimit {
  readonly clock: MatchingClock
  readonly mostMs: number
}

/** The number of operations for which elements are made at a time, outside of the timed part. */
const batchOperations = 8192
/** The operations between two readings of the clock; halved when they take longer than `longStrideMs`. */
const strideOperations = 256
const longStrideMs = 50

interface TimedReplay {
  /** The number of operations until it ended, or was stopped. */
  readonly operations: number
  /** The time of searches, insertions and removals only. */
  readonly ms: number
}

/** Replays a trace with only the design timed. */
export function timedReplay(
  trace: PackedTrace,
  design: NamedDesign,
  facts: ProcessFacts,
  { clock, mostMs }: ReplayLimit,
): TimedReplay {
  const queues = new PackedQueues(trace, design, facts)
  let ms = 0
  let done = 0
  let stride = strideOperations
  while (done < trace.length && ms < mostMs) {
    const elements = queues.elementsFrom(done, Math.min(done + batchOperations, trace.length))
    let begin = clock()
    for (let i = 0; i < elements.length; i++, done++) {
      queues.apply(done, elements[i])
      if (i % stride !== stride - 1) continue
      const now = clock()
      ms += now - begin
      if (now - begin > longStrideMs && stride > 1) stride /= 2
      begin = now
      if (ms >= mostMs) return { operations: done + 1, ms }
    }
    ms += clock() - begin
  }
  return { operations: done, ms }
}

/** The searches by length of the queue: class c is of lengths from 2^(c - 1) to 2^c - 1, class 0 of empty queues. */
export interface SearchTimes {
  readonly searches: Float64Array
  readonly ms: Float64Array
}

/**
 * Notes a search before the element that it has found is removed. The last element of the queue is undefined once it
 * was removed.
 */
export type SearchObserver = (
  queue: MatchingQueue,
  key: QueueElement,
  found: QueueElement | undefined,
  traversals: number,
  last: QueueElement | undefined,
  isProbe: boolean,
) => void

export interface MeteredReplay {
  readonly operations: number
  readonly posted: QueueReport
  readonly unexpected: QueueReport
  /** The receives that found a message, and messages that found a receive. */
  readonly matches: number
  readonly times: SearchTimes
  /** The lengths of both queues after operations at equal distances, at most 512 of them. */
  readonly samples: readonly {
    readonly operation: number
    readonly posted: number
    readonly unexpected: number
  }[]
}

/** The longest time of a search, and per entry of its queue: a longer one was interrupted, and is left out. */
const [longestMs, longestMsPerEntry] = [1, 1e-4]

const lengthClasses = 33
const mostSamples = 512

/** Returns the class of a length in {@link SearchTimes}. */
function lengthClass(length: number): number {
  return 32 - Math.clz32(length)
}

/** Replays a trace and times each search, with two readings of the clock each. */
export function meteredReplay(
  trace: PackedTrace,
  design: NamedDesign,
  facts: ProcessFacts,
  { clock, mostMs }: ReplayLimit,
  observe?: SearchObserver,
): MeteredReplay {
  const queues = new PackedQueues(trace, design, facts)
  const times = { searches: new Float64Array(lengthClasses), ms: new Float64Array(lengthClasses) }
  const samples: MeteredReplay['samples'][number][] = []
  const distance = Math.max(1, Math.ceil(trace.length / mostSamples))
  const counts = { posted: new QueueLengths(), unexpected: new QueueLengths() }
  const end = clock() + mostMs
  let isOver = false
  let matches = 0
  let done = 0
  // The elements that were added last; one that has been removed has no neighbors.
  const last: { [Queue in MatchingQueue]: QueueElement | undefined } = {
    posted: undefined,
    unexpected: undefined,
  }
  const find = (queue: MatchingQueue, key: QueueElement, isProbe = false): QueueElement | undefined => {
    const searched = queues[queue]
    const { size } = searched
    const before = observe === undefined ? 0 : searched.counters().traversals
    const begin = clock()
    const found = searched.peek(key)
    const now = clock()
    const took = now - begin
    if (now >= end) isOver = true
    if (took < longestMs + size * longestMsPerEntry) {
      times.searches[lengthClass(size)]++
      times.ms[lengthClass(size)] += took
    }
    observe?.(
      queue,
      key,
      found,
      searched.counters().traversals - before,
      last[queue]?.listed ? last[queue] : undefined,
      isProbe,
    )
    return found
  }
  while (done < trace.length && !isOver) {
    const elements = queues.elementsFrom(done, Math.min(done + batchOperations, trace.length))
    for (let i = 0; i < elements.length; i++, done++) {
      if (isOver) break
      const kind = trace.kind(done)
      const element = elements[i]
      if (element === undefined) queues.cancel(trace.cancelOf(done))
      else if (kind === 'arrive') {
        const receive = find('posted', element)
        if (receive === undefined) {
          queues.unexpected.insert(element)
          last.unexpected = element
        } else queues.posted.remove(receive)
        if (receive === undefined) counts.unexpected.inserted++
        else matches++
      } else {
        const message = find('unexpected', element, kind !== 'post')
        if (kind === 'post' && message === undefined) {
          queues.posted.insert(element)
          last.posted = element
          counts.posted.inserted++
        }
        if (kind !== 'probe' && message !== undefined) {
          queues.unexpected.remove(message)
          matches++
        }
      }
      const [posted, unexpected] = [queues.posted.size, queues.unexpected.size]
      counts.posted.note(posted)
      counts.unexpected.note(unexpected)
      if (done % distance === 0) samples.push({ operation: done, posted, unexpected })
    }
  }
  const [posted, unexpected] = matchingQueues.map((queue) => counts[queue].report(queues[queue], done))
  return { operations: done, posted, unexpected, matches, times, samples }
}

/** The two queues of a process in a design, and the elements of a trace for them. */
class PackedQueues {
  readonly posted: MatchingDesign<QueueElement>
  readonly unexpected: MatchingDesign<QueueElement>
  readonly #trace: PackedTrace
  /** The receives that a later cancel names. */
  readonly #cancelled = new Map<number, QueueElement>()
  #receives = 0
  #messages = 0

  constructor(trace: PackedTrace, design: NamedDesign, facts: ProcessFacts) {
    this.#trace = trace
    this.posted = makeMatchingDesign(design, 'posted', facts)
    this.unexpected = makeMatchingDesign(design, 'unexpected', facts)
  }

  /** Returns the elements of operations; undefined in the place of a cancel. */
  elementsFrom(from: number, to: number): (QueueElement | undefined)[] {
    const trace = this.#trace
    return Array.from({ length: to - from }, (_, i) => {
      const kind = trace.kind(from + i)
      if (kind === 'cancel') return undefined
      if (kind !== 'post') return trace.element(from + i, kind === 'arrive' ? this.#messages++ : -1)
      const receive = trace.element(from + i, this.#receives++)
      if (trace.cancelled.has(receive.number)) this.#cancelled.set(receive.number, receive)
      return receive
    })
  }

  apply(index: number, element: QueueElement | undefined): void {
    if (element === undefined) {
      this.cancel(this.#trace.cancelOf(index))
      return
    }
    switch (this.#trace.kind(index)) {
      case 'post':
        if (this.unexpected.search(element) === undefined) this.posted.insert(element)
        break
      case 'arrive':
        if (this.posted.search(element) === undefined) this.unexpected.insert(element)
        break
      case 'probe':
        this.unexpected.peek(element)
        break
      default:
        this.unexpected.search(element)
    }
  }

  cancel(number: number): void {
    const receive = this.#cancelled.get(number)!
    if (receive.listed) this.posted.remove(receive)
  }
}

type PackedKind = MatchingOperation['kind']

const kinds: readonly PackedKind[] = ['post', 'arrive', 'probe', 'mprobe', 'cancel']
const kindBits = 3
const wordsPerOperation = 6

/** The most ranks of all communicators together, which bounds what designs allocate for each communicator and rank. */
const mostCommunicatorPlaces = 2 ** 24

/** The operations of one process in 24 bytes each, so that they can be replayed many times. */
export class PackedTrace {
  readonly facts: ProcessFacts
  readonly #words = new GrowingInt32Array()
  readonly #contexts = new Set<number>()
  #places = 0
  readonly cancelled = new Set<number>()
  receives = 0
  messages = 0

  constructor(facts: ProcessFacts) {
    this.facts = facts
  }

  get length(): number {
    return this.#words.length / wordsPerOperation
  }

  /**
   * Appends an operation that has been checked.
   *
   * @throws ERR_ARGUMENT for a cancel of a receive that is not before it, and for too many communicators
   */
  push(operation: MatchingOperation): void {
    const words = this.#words
    if (operation.kind === 'cancel') {
      const { receive } = operation
      if (receive >= this.receives)
        throw wrongValue('ERR_ARGUMENT', `expected receive, one of ${this.receives} posts before`, receive)
      this.cancelled.add(receive)
      for (const word of [kinds.indexOf('cancel'), 0, receive, 0, 0, 0]) words.push(word)
      return
    }
    const { kind, context, source, tag, bytes = 0, collective, call } = operation
    if (!this.#contexts.has(context)) this.#addContext(context)
    if (kind === 'post') this.receives++
    if (kind === 'arrive') this.messages++
    words.push((matchingTraffic(collective) << kindBits) | kinds.indexOf(kind))
    words.push(context)
    words.push(source)
    words.push(tag)
    words.push(Math.min(bytes, 2 ** 32 - 1) | 0)
    words.push(call === undefined ? -1 : call % 2 ** 31)
  }

  first(operations: number): PackedTrace {
    const first = new PackedTrace(this.facts)
    for (const operation of this.operations()) {
      if (first.length === operations) break
      first.push(operation)
    }
    return first
  }

  kind(index: number): PackedKind {
    return kinds[this.#words.get(index * wordsPerOperation) & (2 ** kindBits - 1)]
  }

  cancelOf(index: number): number {
    return this.#words.get(index * wordsPerOperation + 2)
  }

  /** Yields the operations, for a reader that needs them once. */
  *operations(): Generator<MatchingOperation> {
    const words = this.#words
    for (let index = 0; index < this.length; index++) {
      const kind = this.kind(index)
      if (kind === 'cancel') {
        yield { kind, receive: this.cancelOf(index) }
        continue
      }
      const at = index * wordsPerOperation
      const traffic = words.get(at) >>> kindBits
      const collective = traffic === 0 ? {} : { collective: collectives[traffic - 1] }
      const call = words.get(at + 5) < 0 ? {} : { call: words.get(at + 5) }
      const [context, source, tag] = [words.get(at + 1), words.get(at + 2), words.get(at + 3)]
      yield { kind, context, source, tag, bytes: words.get(at + 4) >>> 0, ...collective, ...call }
    }
  }

  /**
   * Returns the element with which the operation at an index is searched, or queued.
   *
   * @param number names it
   */
  element(index: number, number: number): QueueElement {
    const words = this.#words
    const at = index * wordsPerOperation
    const call = words.get(at + 5)
    const fields: ElementFields = {
      context: words.get(at + 1),
      source: words.get(at + 2),
      tag: words.get(at + 3),
      bytes: words.get(at + 4) >>> 0,
      ...(call < 0 ? {} : { call }),
    }
    return new QueueElement(number, fields, words.get(at) >>> kindBits)
  }

  #addContext(context: number): void {
    const { communicatorSizes, processes } = this.facts
    this.#contexts.add(context)
    this.#places += communicatorSizes?.get(context) ?? processes
    if (this.#places > mostCommunicatorPlaces)
      throw wrongValue(
        'ERR_ARGUMENT',
        `expected communicators of at most ${mostCommunicatorPlaces} ranks together`,
        this.#places,
      )
  }
}
