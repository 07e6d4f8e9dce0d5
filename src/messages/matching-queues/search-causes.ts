import { type MatchingQueue, pointToPoint, type QueueElement } from './design.js'
import type { SearchObserver } from './packed-replay.js'

/** The elements before the one that a search found, or in a queue in which it found none. */
export interface PassedElements {
  /** The lowest and the highest source, wildcards left out; undefined if all are wildcards. */
  readonly sources?: readonly [number, number]
  readonly distinctSources: number
  readonly distinctTags: number
  readonly anySource: number
}

/** The search of a group that passed most entries in the single list, to half as many again. */
export interface DeepestSearch {
  /** The source that was searched for; -1: any. */
  readonly source: number
  readonly tag: number
  readonly isProbe: boolean
  readonly found: boolean
  readonly passed: number
  /** Undefined if too many elements had been examined before. */
  readonly before: PassedElements | undefined
}

/**
 * The order in which searches take entries: those that came last first, those that came first first, or neither. It is
 * that of the entries of one source.
 */
export type SearchOrder = 'newest-first' | 'oldest-first' | 'mixed'

/** The totals of the searches of one group, or of several. */
export interface PassedTogether {
  /** The lowest and the highest source that was searched for; -1: any. */
  readonly sources: readonly [number, number]
  readonly distinctSources: number
  /** The lowest and the highest tag; undefined if all searches were for any tag. */
  readonly tags: readonly [number, number] | undefined
  readonly searches: number
  readonly passed: number
  /** The share of all entries that were passed in both queues: 0 to 1. */
  readonly share: number
  /** Whether probes passed most of the entries. */
  readonly isProbe: boolean
  /** Whether searches that found nothing passed most of the entries. */
  readonly isMissing: boolean
  readonly order: SearchOrder
}

/** The searches of one queue for one source that passed most entries in the single list together. */
export interface SearchCause extends PassedTogether {
  /** The queue. `unexpected`: receives or probes searched messages; `posted`: messages searched receives. */
  readonly queue: MatchingQueue
  readonly context: number
  readonly isCollective: boolean
  /** The source; -1: any. */
  readonly source: number
  /** All groups of its queue and context, itself among them. */
  readonly alike: PassedTogether
  readonly deepest: DeepestSearch
}

/** The most elements that are examined of those that a search has passed, and of those of all searches. */
const [mostLookedAt, mostLookedAtInAll] = [100_000, 10_000_000]
/** The most groups of which sums are kept; searches of more groups count only in the sum of all. */
const mostGroups = 4096
/** The share of the takings of a group in one direction that makes an order. */
const mostlyOrdered = 0.75

interface SearchGroup {
  readonly queue: MatchingQueue
  readonly context: number
  readonly traffic: number
  readonly source: number
  tags: readonly [number, number] | undefined
  searches: number
  passed: number
  passedByProbes: number
  passedMissing: number
  last: number
  /** The entries found that came after the one found before, and before it. */
  rises: number
  falls: number
  deepest: DeepestSearch | undefined
}

/**
 * Finds the group of searches of a replay in the single list that passed most entries: those of a queue, a context and
 * a source. The elements before an entry are examined seldom: only if a search has passed half as much again as any
 * before of its group.
 */
export class SearchCauses {
  readonly #groups = new Map<string, SearchGroup>()
  #passed = 0
  #lookedAt = 0

  readonly observe: SearchObserver = (queue, key, found, traversals, last, isProbe) => {
    this.#passed += traversals
    const source = key.sourceMask === 0 ? -1 : key.source
    const group = this.#group(queue, key, source, traversals)
    if (group === undefined) return
    group.searches++
    group.passed += traversals
    if (isProbe) group.passedByProbes += traversals
    if (found === undefined) group.passedMissing += traversals
    else {
      if (group.last >= 0 && found.number > group.last) group.rises++
      if (found.number < group.last) group.falls++
      group.last = found.number
    }
    const tag = key.tagMask === 0 ? -1 : key.tag
    if (tag >= 0) group.tags = rangeWith(group.tags, [tag, tag])
    const { deepest } = group
    if (deepest !== undefined && traversals < 1.5 * deepest.passed) return
    const before = found === undefined ? last : (found.previous as QueueElement | undefined)
    group.deepest = {
      ...{ source, tag, isProbe, found: found !== undefined, passed: traversals },
      before: this.#lookedAt < mostLookedAtInAll ? passedBefore(before) : undefined,
    }
    this.#lookedAt += Math.min(traversals, mostLookedAt)
  }

  /** Undefined if no search passed more than one entry. */
  get worst(): SearchCause | undefined {
    const groups = [...this.#groups.values()]
    if (groups.length === 0) return undefined
    const worst = groups.reduce((so, group) => (group.passed > so.passed ? group : so))
    const { queue, context, traffic, source } = worst
    const alike = groups.filter(
      (group) => group.queue === queue && group.context === context && group.traffic === traffic,
    )
    return {
      ...{ queue, context, isCollective: traffic !== pointToPoint, source },
      ...passedTogether([worst], this.#passed),
      alike: passedTogether(alike, this.#passed),
      deepest: worst.deepest!,
    }
  }

  /**
   * Returns a group. It is undefined if there is none yet, and the search passes too little or there are too many
   * groups.
   */
  #group(
    queue: MatchingQueue,
    { context, traffic }: QueueElement,
    source: number,
    traversals: number,
  ): SearchGroup | undefined {
    const name = `${queue} ${context} ${traffic} ${source}`
    const known = this.#groups.get(name)
    if (known !== undefined || traversals < 2 || this.#groups.size >= mostGroups) return known
    const group: SearchGroup = {
      ...{ queue, context, traffic, source, tags: undefined, searches: 0, passed: 0, passedByProbes: 0 },
      ...{ passedMissing: 0, last: -1, rises: 0, falls: 0, deepest: undefined },
    }
    this.#groups.set(name, group)
    return group
  }
}

/** @param all entries that were passed in both queues */
function passedTogether(groups: readonly SearchGroup[], all: number): PassedTogether {
  const sum = (value: (group: SearchGroup) => number) => groups.reduce((so, group) => so + value(group), 0)
  const passed = sum((group) => group.passed)
  const [rises, falls] = [sum((group) => group.rises), sum((group) => group.falls)]
  const least = mostlyOrdered * Math.max(1, rises + falls)
  let sources: readonly [number, number] | undefined
  let tags: readonly [number, number] | undefined
  for (const group of groups) {
    sources = rangeWith(sources, [group.source, group.source])
    if (group.tags !== undefined) tags = rangeWith(tags, group.tags)
  }
  return {
    ...{ sources: sources!, distinctSources: groups.length, tags, passed },
    searches: sum((group) => group.searches),
    share: passed / Math.max(1, all),
    isProbe: sum((group) => group.passedByProbes) > passed / 2,
    isMissing: sum((group) => group.passedMissing) > passed / 2,
    order: falls >= least ? 'newest-first' : rises >= least ? 'oldest-first' : 'mixed',
  }
}

function rangeWith(
  range: readonly [number, number] | undefined,
  [least, most]: readonly [number, number],
): readonly [number, number] {
  return range === undefined ? [least, most] : [Math.min(range[0], least), Math.max(range[1], most)]
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
