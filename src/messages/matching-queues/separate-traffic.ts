import type { MatchingCounters, MatchingDesign } from './design.js'
import { type MatchingElement, type MatchingKey, pointToPoint } from './element.js'

/**
 * Two designs side by side, one for point-to-point messages and one for those of collectives. Neither searches the
 * other's elements.
 *
 * @see Ghazimirsaeed 2019 chapter 5 (unified design: COL+LL, COL+PNP)
 */
export class SeparateTraffic<E extends MatchingElement> implements MatchingDesign<E> {
  readonly pointToPoint: MatchingDesign<E>
  readonly collective: MatchingDesign<E>

  constructor(pointToPoint: MatchingDesign<E>, collective: MatchingDesign<E>) {
    this.pointToPoint = pointToPoint
    this.collective = collective
  }

  get size(): number {
    return this.pointToPoint.size + this.collective.size
  }

  search(key: MatchingKey): E | undefined {
    return this.#designOf(key).search(key)
  }

  peek(key: MatchingKey): E | undefined {
    return this.#designOf(key).peek(key)
  }

  insert(element: E): void {
    this.#designOf(element).insert(element)
  }

  remove(element: E): void {
    this.#designOf(element).remove(element)
  }

  counters(): MatchingCounters {
    return summedCounters([this.pointToPoint.counters(), this.collective.counters()])
  }

  #designOf({ traffic }: MatchingKey): MatchingDesign<E> {
    return traffic === pointToPoint ? this.pointToPoint : this.collective
  }
}

/** Returns the counters of several queues together: of all ranks of a program, or of both queues of one. */
export function summedCounters(all: readonly MatchingCounters[]): MatchingCounters {
  const sum = (name: keyof MatchingCounters) => all.reduce((total, counters) => total + counters[name], 0)
  return {
    searches: sum('searches'),
    traversals: sum('traversals'),
    queues: sum('queues'),
    collectiveQueues: sum('collectiveQueues'),
    levels: sum('levels'),
    partners: sum('partners'),
    overheadBytes: sum('overheadBytes'),
  }
}
