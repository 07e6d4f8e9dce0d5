import { wrongValue } from '../../errors.js'
import { type Collective, collectives } from '../../schedule/specification.js'
import { ANY_SOURCE, ANY_TAG, type Entry } from './entry-list.js'

/** The work and the contents of a design. All counts begin at 0. */
export interface MatchingCounters {
  /** The searches and peeks, successful or not. */
  readonly searches: number
  /** The entries that these have passed, the one that was found among them. */
  readonly traversals: number
  /** The lists by which a design tells sources apart, except one for receives from any source. */
  readonly queues: number
  /** The number of these that are for the messages of collectives only. */
  readonly collectiveQueues: number
  /** The levels of lists that were made one after the other while elements were inserted. */
  readonly levels: number
  /** The sources with a list that they do not share. */
  readonly partners: number
  /**
   * The most bytes at any time besides elements and their links: heads of lists, tables, holes. They are those of a
   * program in C with pointers of 8 bytes.
   */
  readonly overheadBytes: number
}

/**
 * A structure for one matching queue of one process: for its posted receives or for its unexpected messages.
 *
 * Whatever the structure, a search returns the element that was inserted first of all that match. MPI demands it:
 * messages do not overtake each other (MPI-4.1 §3.5).
 */
export interface MatchingDesign<E extends MatchingElement = MatchingElement> {
  /** The number of elements that are queued. */
  readonly size: number
  /** Returns the first element that matches, removed; undefined if none does. */
  search(key: MatchingKey): E | undefined
  /** Returns the first element that matches, left in the queue: for probes. It counts as a search. */
  peek(key: MatchingKey): E | undefined
  /**
   * Appends an element that is in no queue.
   *
   * @throws ERR_ARGUMENT for a receive from any source, if the facts exclude them
   */
  insert(element: E): void
  /** Removes an element that is in this queue: a receive that is cancelled. */
  remove(element: E): void
  counters(): MatchingCounters
}

/** The facts that designs know of their process. */
export interface ProcessFacts {
  /** The ranks of the world: sources are below. */
  readonly processes: number
  /** The ranks of a communicator by its context. Default: all. */
  readonly communicatorSizes?: ReadonlyMap<number, number>
  /**
   * Whether no receive names `ANY_SOURCE`, so that no search looks for one. Default: false.
   *
   * @see MPI-4.1 §7.4.4 (mpi_assert_no_any_source)
   */
  readonly noAnySource?: boolean
  /** The counts of an earlier run of the same process, for designs that start from it. */
  readonly counts?: QueueCounts
}

/** The entries passed, while a search is in progress and in all. */
export interface Traversals {
  traversals: number
}

/** The sizes of what {@link MatchingCounters.overheadBytes} counts. */
export const overheads = {
  pointerBytes: 8,
  /** The first and the last element. */
  listBytes: 16,
  /** A key and a value. */
  tableEntryBytes: 16,
} as const

/** The counters that depend on how elements are distributed over chains. */
export type RoutingCounters = Pick<
  MatchingCounters,
  'queues' | 'collectiveQueues' | 'levels' | 'partners' | 'overheadBytes'
>

/** The rule by which a design distributes the elements that name their source over chains. */
export interface SourceRouting<E extends MatchingElement> {
  append(element: E): void
  /** Returns the first match among the elements of one source, left in its chain. The key names its source. */
  find(key: MatchingKey, passed: Traversals): E | undefined
  /** Returns every chain that may hold elements that match a key which does not name its source. */
  chains(key: MatchingKey): Iterable<Chain<E>>
  /** Returns a chain for receives from any source, instead of one for all of them. */
  anySource?(key: MatchingKey): Chain<E>
  /** Notes that an element has left the chain in which it was. */
  left?(element: E): void
  counters(): RoutingCounters
}

/**
 * A design that distributes elements over several chains by their source. Receives from any source have a separate
 * chain, which every message searches too; a receive from any source searches all chains. Of the elements found the one
 * with the lowest sequence number is taken, so the order of the single list holds.
 *
 * @see Ghazimirsaeed 2019 chapter 3 (PRQ_ANY, sequence numbers)
 */
export class RoutedDesign<E extends MatchingElement> implements MatchingDesign<E> {
  readonly #routing: SourceRouting<E>
  readonly #passed: Traversals = { traversals: 0 }
  readonly #fromAny: Chain<E> | undefined
  #searches = 0
  #inserted = 0
  #size = 0

  constructor(routing: SourceRouting<E>, { noAnySource }: ProcessFacts) {
    this.#routing = routing
    this.#fromAny = noAnySource ? undefined : new Chain()
  }

  get size(): number {
    return this.#size
  }

  search(key: MatchingKey): E | undefined {
    const found = this.peek(key)
    if (found !== undefined) this.remove(found)
    return found
  }

  peek(key: MatchingKey): E | undefined {
    this.#searches++
    if (key.sourceMask === 0) return this.#findOfAll(key)
    const named = this.#routing.find(key, this.#passed)
    return earlierOf(named, this.#anySource(key)?.find(key, this.#passed))
  }

  insert(element: E): void {
    if (element.sourceMask === 0) {
      const chain = this.#anySource(element)
      if (chain === undefined)
        throw wrongValue('ERR_ARGUMENT', 'expected a receive that names its source', 'ANY_SOURCE')
      element.order = this.#inserted++
      chain.append(element)
    } else {
      element.order = this.#inserted++
      this.#routing.append(element)
    }
    this.#size++
  }

  remove(element: E): void {
    unchain(element)
    this.#size--
    if (element.sourceMask !== 0) this.#routing.left?.(element)
  }

  counters(): MatchingCounters {
    const { traversals } = this.#passed
    return { searches: this.#searches, traversals, ...this.#routing.counters() }
  }

  #anySource(key: MatchingKey): Chain<E> | undefined {
    if (this.#fromAny === undefined) return undefined
    return this.#routing.anySource?.(key) ?? this.#fromAny
  }

  #findOfAll(key: MatchingKey): E | undefined {
    let first: E | undefined
    for (const chain of this.#routing.chains(key)) first = earlierOf(first, chain.find(key, this.#passed))
    return first
  }
}

/** The counters that are 0 for most routings. */
export const noLevels = { collectiveQueues: 0, levels: 0, partners: 0 } as const

/** A doubly linked list of elements in the order in which they were appended. An element is in at most one. */
export class Chain<E extends MatchingElement> {
  #first: E | undefined
  #last: E | undefined
  length = 0

  append(element: E): void {
    element.place = this
    element.listed = true
    element.previous = this.#last
    if (this.#last === undefined) this.#first = element
    else this.#last.next = element
    this.#last = element
    this.length++
  }

  /** @param element in this chain */
  remove(element: E): void {
    if (element.previous === undefined) this.#first = element.next as E | undefined
    else element.previous.next = element.next
    if (element.next === undefined) this.#last = element.previous as E | undefined
    else element.next.previous = element.previous
    element.previous = element.next = element.place = undefined
    element.listed = false
    this.length--
  }

  /** Returns the first element that matches, left in the chain. O(length) */
  find(key: MatchingKey, passed: Traversals): E | undefined {
    let count = 0
    for (let element = this.#first; element !== undefined; element = element.next as E | undefined) {
      count++
      if (!isMatch(element, key)) continue
      passed.traversals += count
      return element
    }
    passed.traversals += count
    return undefined
  }

  *[Symbol.iterator](): Generator<E> {
    for (let element = this.#first; element !== undefined; element = element.next as E | undefined)
      yield element
  }
}

export function unchain<E extends MatchingElement>(element: E): void {
  const chain = element.place as Chain<E>
  chain.remove(element)
}

/**
 * The elements of each source that one process has added to one of its queues during a run, by context. They are a row
 * of the thesis's matrix A, which holds `A[i][j]` elements of source j for process i. Receives from any source count
 * for none.
 *
 * @see Ghazimirsaeed 2019 chapter 3 (profiling)
 */
export type SourceCounts = ReadonlyMap<number, ArrayLike<number>>

/** The counts of a process for both queues, from which designs that learn from an earlier run start. */
export type QueueCounts = { readonly [Queue in MatchingQueue]: SourceCounts }

export function countsOfSources(counts: SourceCounts, processes: number): Float64Array {
  const sums = new Float64Array(processes)
  for (const row of counts.values())
    for (let source = 0; source < row.length; source++) sums[source] += row[source]
  return sums
}

/**
 * The two queues of each process: receives that were posted before their message, searched by messages (PRQ), and
 * unexpected messages, searched by receives (UMQ).
 */
export const matchingQueues = ['posted', 'unexpected'] as const
export type MatchingQueue = (typeof matchingQueues)[number]

/** The traffic of point-to-point messages; that of a collective is above it. */
export const pointToPoint = 0

/** Returns the traffic of messages. Messages of a collective and of another one, or of point-to-point, never match. */
export function matchingTraffic(collective: Collective | undefined): number {
  return collective === undefined ? pointToPoint : 1 + collectives.indexOf(collective)
}

/**
 * The fields by which a message and a receive are matched: MPI's context, source and tag. Both source and tag of a
 * message are exact. Either of a receive may be a wildcard, and its mask is 0 then. A field matches if it is equal in
 * the bits that the masks of both sides have. The context is never wild.
 *
 * @see Ghazimirsaeed 2019 chapter 2 (masks of queue elements)
 */
export interface MatchingKey {
  /** The context of the communicator, an integer of at least 0. */
  readonly context: number
  /** The traffic: {@link pointToPoint}, or the number that {@link matchingTraffic} gives a collective. */
  readonly traffic: number
  /** The rank of the sender in the communicator, in both queues. */
  readonly source: number
  readonly tag: number
  /** The mask of the source: -1, all bits, unless the source is a wildcard. */
  readonly sourceMask: number
  readonly tagMask: number
  readonly bytes: number
  /** The number of the collective call of its communicator; -1 if that is not known. */
  readonly call: number
}

export interface MatchingElement extends Entry, MatchingKey {
  /** The place where its design holds it. These two belong to the design, like the members of an entry. */
  place: object | undefined
  slot: number
}

/** Applies the rule of matching, the same for both queues. */
function isMatch(a: MatchingKey, b: MatchingKey): boolean {
  return (
    (((a.source ^ b.source) & a.sourceMask & b.sourceMask) |
      ((a.tag ^ b.tag) & a.tagMask & b.tagMask) |
      (a.context ^ b.context) |
      (a.traffic ^ b.traffic)) ===
    0
  )
}

/** Returns the entry that was inserted first, if any. */
export function earlierOf<E extends Entry>(a: E | undefined, b: E | undefined): E | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a.order < b.order ? a : b
}

/** The fields of an element from which the others follow. */
export interface ElementFields {
  readonly context: number
  /** The rank of the sender in the communicator. A receive and a probe may have `ANY_SOURCE`, -1. */
  readonly source: number
  /** The tag, from 0. A receive and a probe may have `ANY_TAG`, -1. */
  readonly tag: number
  /** The bytes of the message, or of the buffer of the receive. Default: 0. */
  readonly bytes?: number
  /** The number of the collective call of its communicator, counted from 0, if that is known. */
  readonly call?: number
}

/** An element with a number, by which a trace names its receive or its message. */
export class QueueElement implements MatchingElement {
  readonly number: number
  readonly context: number
  readonly traffic: number
  readonly source: number
  readonly tag: number
  readonly sourceMask: number
  readonly tagMask: number
  readonly bytes: number
  readonly call: number
  order = 0
  listed = false
  previous: Entry | undefined = undefined
  next: Entry | undefined = undefined
  place: object | undefined = undefined
  slot = 0

  constructor(number: number, fields: ElementFields, traffic = pointToPoint) {
    const { context, source, tag, bytes, call } = fields
    this.number = number
    this.context = context
    this.traffic = traffic
    this.source = source
    this.tag = tag
    this.sourceMask = source === ANY_SOURCE ? 0 : -1
    this.tagMask = tag === ANY_TAG ? 0 : -1
    this.bytes = bytes ?? 0
    this.call = call ?? -1
  }
}
