import {
  Chain,
  earlierOf,
  type MatchingElement,
  type MatchingKey,
  noLevels,
  overheads,
  type ProcessFacts,
  type RoutingCounters,
  type SourceRouting,
  type Traversals,
} from './design.js'

/**
 * The rules for a collective that would get more lists than are left. It gets those (`clip`), or none, as the thesis's
 * algorithm is printed (`strict`).
 */
export const capRules = ['clip', 'strict'] as const
export type CapRule = (typeof capRules)[number]

export interface CollectiveQueuesRule {
  /** The lists of all collectives together, as a multiple of the square root of the processes: k. */
  readonly factor: number
  readonly cap: CapRule
}

/** The calls of a collective with about as many bytes in communicators of one size: the thesis's p. */
interface CallClass {
  isMeasured: boolean
  /** The call that is being measured; -1 if calls are not numbered. */
  call: number
  /** The number of its elements in the list where it is measured. */
  queued: number
  found: number
  passed: number
}

/** The mark of an element in the list where its call is measured. */
const isBeingMeasured = 1

/**
 * Lists for the messages of collectives. The first call of a class uses one list that all classes share. The mean
 * number of elements that its searches pass is the number of lists that its collective gets, as a new level. It gets
 * none if its last level has as many. Later elements go to the list `source mod lists` of the last level.
 *
 * A call is over when an element of another call comes. Without numbers of calls it is over when an element comes while
 * none of its class is queued. A new class may use the shared list while older elements of its source wait in a level.
 * So a search compares the sequence numbers of both.
 *
 * @see Ghazimirsaeed 2019 chapter 5 (COL), algorithms 5.1 and 5.2
 */
export class CollectiveQueues<E extends MatchingElement> implements SourceRouting<E> {
  readonly #facts: ProcessFacts
  readonly #rule: CollectiveQueuesRule
  readonly #classes = new Map<number, CallClass>()
  /** The list in which the first call of each class is measured. */
  readonly #shared = new Chain<E>()
  readonly #levels: Chain<E>[][][] = []
  #lists = 0

  constructor(facts: ProcessFacts, rule: CollectiveQueuesRule) {
    this.#facts = facts
    this.#rule = rule
  }

  append(element: E): void {
    const calls = this.#classOf(element)
    if (!calls.isMeasured && isOver(calls, element.call)) this.#allocate(calls, element.traffic)
    if (!calls.isMeasured) {
      calls.queued++
      calls.call = element.call
      element.slot = isBeingMeasured
      this.#shared.append(element)
      return
    }
    element.slot = 0
    const lists = this.#levels[element.traffic]?.at(-1)
    const list = lists === undefined ? this.#shared : lists[element.source % lists.length]
    list.append(element)
  }

  find(key: MatchingKey, passed: Traversals): E | undefined {
    const before = passed.traversals
    const shared = this.#shared.find(key, passed)
    const count = passed.traversals - before
    const first = earlierOf(shared, this.#findInLevels(key, passed))
    if (first !== undefined && first === shared && first.slot === isBeingMeasured) {
      const calls = this.#classOf(first)
      calls.found++
      calls.passed += count
    }
    return first
  }

  *chains({ traffic }: MatchingKey): Generator<Chain<E>> {
    yield this.#shared
    for (const lists of this.#levels[traffic] ?? []) yield* lists
  }

  left(element: E): void {
    if (element.slot === isBeingMeasured) this.#classOf(element).queued--
  }

  counters(): RoutingCounters {
    const levels = this.#levels.reduce((sum, ofTraffic) => sum + ofTraffic.length, 0)
    const overheadBytes =
      (1 + this.#lists) * overheads.listBytes + this.#classes.size * overheads.tableEntryBytes
    return { ...noLevels, queues: 1 + this.#lists, collectiveQueues: this.#lists, levels, overheadBytes }
  }

  #findInLevels(key: MatchingKey, passed: Traversals): E | undefined {
    for (const lists of this.#levels[key.traffic] ?? []) {
      const found = lists[key.source % lists.length].find(key, passed)
      // Elements of a source in an earlier level are older.
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Ends the measurement of a class, and makes the level that it needs. */
  #allocate(calls: CallClass, traffic: number): void {
    calls.isMeasured = true
    const wanted = Math.max(1, Math.round(calls.passed / calls.found))
    const most = this.#rule.factor * Math.sqrt(this.#facts.processes)
    const left = Math.floor(most) - this.#lists
    if (this.#rule.cap === 'strict' && wanted + this.#lists >= most) return
    const lists = Math.min(wanted, left)
    const levels = this.#levels[traffic] ?? []
    this.#levels[traffic] = levels
    if (lists <= (levels.at(-1)?.length ?? 0)) return
    levels.push(Array.from({ length: lists }, () => new Chain<E>()))
    this.#lists += lists
  }

  #classOf({ context, traffic, bytes }: MatchingKey): CallClass {
    const ranks = this.#facts.communicatorSizes?.get(context) ?? this.#facts.processes
    const magnitude = Math.ceil(Math.log2(bytes + 1))
    const key = (ranks * 64 + magnitude) * 32 + traffic
    let calls = this.#classes.get(key)
    if (calls === undefined) {
      calls = { isMeasured: false, call: -1, queued: 0, found: 0, passed: 0 }
      this.#classes.set(key, calls)
    }
    return calls
  }
}

/**
 * Tells whether an element of a call shows that the call before it is over. Searches that found nothing measure
 * nothing.
 */
function isOver(calls: CallClass, call: number): boolean {
  if (calls.found === 0) return false
  return call < 0 || calls.call < 0 ? calls.queued === 0 : call !== calls.call
}
