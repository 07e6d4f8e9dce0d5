import { type MatchingQueue, pointToPoint, type QueueElement } from './element.js'
import type { SearchObserver } from './packed-replay.js'

/** What lay before the element that a search found, or in a queue in which it found none. */
export interface PassedElements {
  /** The lowest and the highest source, wildcards left out; undefined where all are wildcards. */
  readonly sources?: readonly [number, number]
  readonly distinctSources: number
  readonly distinctTags: number
  readonly anySource: number
}

/** A search that passed many entries in the single list: a receive that waits for its message, or the reverse. */
export interface SearchCause {
  /** `unexpected`: a receive or a probe searched messages; `posted`: a message searched receives. */
  readonly queue: MatchingQueue
  readonly context: number
  readonly isCollective: boolean
  /** What was searched for; -1: any. */
  readonly source: number
  readonly tag: number
  readonly found: boolean
  /** Entries that it passed. */
  readonly passed: number
  readonly before: PassedElements
  /** Entries that all searches of this queue passed, of all of both queues: 0 to 1. */
  readonly share: number
}

/** Elements that are looked at of those that a search has passed. */
const mostLookedAt = 100_000

/**
 * Finds the search of a replay in the single list that passed most. What lay before it is looked at only where a
 * search has passed a tenth more than any before, so seldom.
 */
export class SearchCauses {
  readonly #passed = { posted: 0, unexpected: 0 }
  readonly #worst: { posted?: Omit<SearchCause, 'share'>; unexpected?: Omit<SearchCause, 'share'> } = {}

  readonly observe: SearchObserver = (queue, key, found, traversals, last) => {
    this.#passed[queue] += traversals
    const worst = this.#worst[queue]?.passed ?? 0
    if (traversals < 2 || (worst > 0 && traversals < 1.1 * worst)) return
    this.#worst[queue] = {
      queue,
      context: key.context,
      isCollective: key.traffic !== pointToPoint,
      source: key.sourceMask === 0 ? -1 : key.source,
      tag: key.tagMask === 0 ? -1 : key.tag,
      found: found !== undefined,
      passed: traversals,
      before: passedBefore(found === undefined ? last : (found.previous as QueueElement | undefined)),
    }
  }

  /** Of the queue whose searches passed more; undefined where none passed more than one entry. */
  get worst(): SearchCause | undefined {
    const { posted, unexpected } = this.#passed
    const queue = posted > unexpected ? 'posted' : 'unexpected'
    const cause = this.#worst[queue]
    return cause && { ...cause, share: this.#passed[queue] / (posted + unexpected) }
  }
}

/** @param last of those that were passed */
function passedBefore(last: QueueElement | undefined): PassedElements {
  const sources = new Set<number>()
  const tags = new Set<number>()
  let anySource = 0
  let count = 0
  for (let element = last; element !== undefined && count < mostLookedAt; count++) {
    if (element.sourceMask === 0) anySource++
    else sources.add(element.source)
    if (element.tagMask !== 0) tags.add(element.tag)
    element = element.previous as QueueElement | undefined
  }
  let [least, most] = [Number.POSITIVE_INFINITY, -1]
  for (const source of sources) {
    least = Math.min(least, source)
    most = Math.max(most, source)
  }
  return {
    ...(sources.size === 0 ? {} : { sources: [least, most] as const }),
    distinctSources: sources.size,
    distinctTags: tags.size,
    anySource,
  }
}
