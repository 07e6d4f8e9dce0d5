import type { MatchingDesign, ProcessFacts } from './design.js'
import { makeMatchingDesign, type NamedDesign } from './designs.js'
import { type MatchingQueue, matchingQueues, type QueueElement } from './element.js'
import type { PackedTrace } from './packed-trace.js'
import { QueueLengths, type QueueReport } from './queue-lengths.js'

/** A clock in milliseconds. */
export type MatchingClock = () => number

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

export interface TimedReplay {
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
export function lengthClass(length: number): number {
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
