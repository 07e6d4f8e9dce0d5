import { medianOf } from '../../base/search.js'
import {
  type MatchingQueue,
  type ProcessFacts,
  pointToPoint,
  type QueueCounts,
  type QueueElement,
} from './design.js'
import { matchingDesigns, type NamedDesign } from './designs.js'
import {
  type MeteredReplay,
  meteredReplay,
  type PackedTrace,
  type ReplayLimit,
  type SearchObserver,
  type SearchTimes,
  timedReplay,
} from './packed-replay.js'
import { countSources, type QueueReport } from './replay.js'

/**
 * The designs of MPICH, with which all others are compared, of Open MPI and of this library. They are always measured.
 */
export const baselineDesign = 'list'
export const openMpiDesign = 'source-lists'
export const ownDesign = 'index'

/** The least replays of a trace with one design, unless they would take longer than one may, and the most. */
const [fewestReplays, mostReplays] = [3, 21]
/** The time in which a design is replayed repeatedly. */
const repeatedMs = 200
/** The operations by which the code of all designs is compiled before the first is timed. */
const warmOperations = 4096

/** The limits of replays. The clock of metered replays is read twice a search, that of timed ones seldom. */
export interface ReplayLimits {
  readonly metered: ReplayLimit
  readonly timed: ReplayLimit
}

/** The result of a design with the trace of one rank. */
export interface ComparedDesign {
  readonly design: NamedDesign
  readonly posted: QueueReport
  readonly unexpected: QueueReport
  /** The operations that were timed: fewer than the trace has if replays were stopped. */
  readonly operations: number
  /** The operations that searches and entries are of: fewer if the replay with a clock around each was stopped. */
  readonly countedOperations: number
  /** True if either of them is fewer. */
  readonly stopped: boolean
  /** The median of the replays: searches, insertions and removals. */
  readonly nsPerOperation: number
  readonly replays: number
  readonly times: SearchTimes
}

export interface ComparedRank {
  readonly rank: number
  readonly operations: number
  readonly receives: number
  readonly messages: number
  /** The receives and matched probes that got a message, in the first `matchedOperations`. */
  readonly matches: number
  /** Fewer than `operations` if the replays with all designs were stopped. */
  readonly matchedOperations: number
  /** The lengths of both queues over time. */
  readonly samples: MeteredReplay['samples']
  /** The costliest searches of the single list; undefined if none passed more than one entry. */
  readonly cause: SearchCause | undefined
  /** The designs in the order in which they were given. */
  readonly designs: readonly ComparedDesign[]
}

/** Called with the design that is replayed next, and the number of replays that were made and are planned at least. */
export type ReplayProgress = (design: string, made: number, planned: number) => void

/**
 * Replays the trace of one rank with each design: once with a clock around each search, then several times with only
 * the design timed.
 *
 * @param designs the baseline first
 * @param limits of each replay; one that is stopped reports the time until then
 * @param trained what the rank's queues were given in an earlier run, for designs that start from one. Default: what
 *   this trace gives them
 */
export function compareRank(
  rank: number,
  trace: PackedTrace,
  designs: readonly NamedDesign[],
  limits: ReplayLimits,
  progress: ReplayProgress = () => {},
  trained?: QueueCounts,
): ComparedRank {
  const facts: ProcessFacts = designs.some(needsCounts)
    ? { ...trace.facts, counts: trained ?? countSources(trace.operations(), trace.facts) }
    : trace.facts
  const first = trace.first(warmOperations)
  for (const design of designs) {
    timedReplay(first, design, facts, limits.timed)
    meteredReplay(first, design, facts, limits.metered)
  }
  const causes = new SearchCauses()
  let made = 0
  const next = ({ name }: NamedDesign) => progress(name, made++, (1 + fewestReplays) * designs.length)
  const metered = designs.map((design, i) => {
    next(design)
    return meteredReplay(trace, design, facts, limits.metered, i === 0 ? causes.observe : undefined)
  })
  const compared = measured(trace, designs, facts, limits.timed, next).map((times, i): ComparedDesign => {
    const { operations: countedOperations, posted, unexpected, times: ofSearches } = metered[i]
    const stopped = Math.min(times.operations, countedOperations) < trace.length
    return { design: designs[i], posted, unexpected, times: ofSearches, ...times, countedOperations, stopped }
  })
  // All designs match alike, so the replay that came furthest knows most.
  const furthest = metered.reduce((so, one) => (one.operations > so.operations ? one : so))
  const { samples, matches, operations: matchedOperations } = furthest
  const { length: operations, receives, messages } = trace
  const counts = { rank, operations, receives, messages, matches, matchedOperations, samples }
  return { ...counts, cause: causes.worst, designs: compared }
}

/** Tells whether a design starts from the counts of an earlier run. */
export const needsCounts = ({ name }: NamedDesign): boolean => matchingDesigns[name].needsCounts === true

/** Replays in turns, so that other load of the machine meets all designs alike. */
function measured(
  trace: PackedTrace,
  designs: readonly NamedDesign[],
  facts: ProcessFacts,
  limit: ReplayLimit,
  next: (design: NamedDesign) => void,
): Pick<ComparedDesign, 'operations' | 'nsPerOperation' | 'replays'>[] {
  const all = designs.map((design) => ({
    design,
    ns: [] as number[],
    ms: 0,
    lastMs: 0,
    operations: trace.length,
  }))
  for (let round = 0; round < mostReplays; round++) {
    for (const one of all) {
      if (one.ms + one.lastMs > limit.mostMs) continue
      if (round >= fewestReplays && one.ms >= repeatedMs) continue
      next(one.design)
      const replay = timedReplay(trace, one.design, facts, limit)
      one.operations = replay.operations
      one.ms += replay.ms
      one.lastMs = replay.ms
      one.ns.push((1e6 * replay.ms) / Math.max(1, replay.operations))
    }
  }
  return all.map(({ ns, operations }) => ({
    operations,
    nsPerOperation: medianOf(ns),
    replays: ns.length,
  }))
}

/** The result of a design with the traces of all ranks. */
export interface SummedDesign {
  readonly design: NamedDesign
  readonly searches: number
  readonly traversals: number
  /** The time of all ranks together, at the measured rate of each: an estimate if replays were stopped. */
  readonly ms: number
  /** The time of all ranks together, with only the measured part of stopped replays. */
  readonly leastMs: number
  /** The time of the rank that takes longest. */
  readonly longestRankMs: number
  readonly nsPerOperation: number
  readonly stopped: boolean
  /** The most of any rank, both queues together. */
  readonly queues: number
  readonly levels: number
  readonly partners: number
  readonly overheadBytes: number
  /**
   * The queue length from which on its searches are faster than those of the baseline at all lengths that occur often
   * enough; null if there is none.
   */
  readonly crossover: number | null
}

/** The searches of a class of lengths that make its mean time a figure. */
const fewestSearches = 30

/**
 * Adds up the results of designs with the traces of several ranks.
 *
 * @param ranks compared with the same designs
 */
export function summedDesigns(ranks: readonly ComparedRank[]): SummedDesign[] {
  if (ranks.length === 0) return []
  const operations = ranks.reduce((sum, rank) => sum + rank.operations, 0)
  const baseline = summedTimes(ranks.map(({ designs }) => designs[0].times))
  return ranks[0].designs.map(({ design }, i) => {
    const all = ranks.map(({ designs }) => designs[i])
    const sum = (value: (one: ComparedDesign) => number) => all.reduce((so, one) => so + value(one), 0)
    const most = (value: (queue: QueueReport) => number) =>
      all.reduce((so, { posted, unexpected }) => Math.max(so, value(posted) + value(unexpected)), 0)
    const msOf = ranks.map((rank) => (rank.designs[i].nsPerOperation * rank.operations) / 1e6)
    const ms = msOf.reduce((so, one) => so + one, 0)
    return {
      design,
      searches: sum(({ posted, unexpected }) => posted.searches + unexpected.searches),
      traversals: sum(({ posted, unexpected }) => posted.traversals + unexpected.traversals),
      ms,
      leastMs: sum(({ nsPerOperation, operations: timed }) => (nsPerOperation * timed) / 1e6),
      longestRankMs: msOf.reduce((so, one) => Math.max(so, one), 0),
      nsPerOperation: operations === 0 ? 0 : (1e6 * ms) / operations,
      stopped: all.some(({ stopped }) => stopped),
      queues: most(({ queues }) => queues),
      levels: most(({ levels }) => levels),
      partners: most(({ partners }) => partners),
      overheadBytes: most(({ overheadBytes }) => overheadBytes),
      crossover: i === 0 ? null : crossoverLength(baseline, summedTimes(all.map(({ times }) => times))),
    }
  })
}

/** Returns the least length of the class from which on the mean search is faster than that of the baseline. */
export function crossoverLength(baseline: SearchTimes, times: SearchTimes): number | null {
  let from: number | null = null
  for (let c = times.searches.length - 1; c >= 0; c--) {
    if (Math.min(times.searches[c], baseline.searches[c]) < fewestSearches) continue
    if (times.ms[c] / times.searches[c] >= baseline.ms[c] / baseline.searches[c]) break
    from = c === 0 ? 0 : 2 ** (c - 1)
  }
  return from
}

function summedTimes(all: readonly SearchTimes[]): SearchTimes {
  const sum = { searches: all[0].searches.slice(), ms: all[0].ms.slice() }
  for (const { searches, ms } of all.slice(1)) {
    for (let c = 0; c < searches.length; c++) {
      sum.searches[c] += searches[c]
      sum.ms[c] += ms[c]
    }
  }
  return sum
}

/** The gain of a program by its best design, by measured time. */
export interface MatchingVerdict {
  /**
   * - `none`: the traces have no search;
   * - `healthy`: the single list passes few entries, takes less than a millisecond for all ranks together, or hardly
   *   longer than the fastest design;
   * - `own`: the index of this library is fastest, or hardly slower;
   * - `other`: another design is faster than that.
   */
  readonly kind: 'none' | 'healthy' | 'own' | 'other'
  readonly baseline: SummedDesign
  readonly openMpi: SummedDesign
  readonly own: SummedDesign
  /** The fastest design. */
  readonly best: SummedDesign
  /** The design that passes fewest entries. */
  readonly fewestPassed: SummedDesign
  /** Whether a design that the verdict names was trained on the traces that it was scored on. */
  readonly isSelfTrained: boolean
  /** The rank whose costliest searches passed most entries together. */
  readonly worst: ComparedRank | undefined
}

/** The factor of the fastest time up to which times are alike. */
const alike = 1.25
/** The time of the single list in all, in milliseconds, below which no design can gain much. */
const littleMs = 1
/** The mean entries that a search of the single list passes, below which no design can gain much. */
const fewEntries = 2

/**
 * @param sums at least those of the designs of MPICH, of Open MPI and of this library
 * @param isTrained whether designs that start from an earlier run had one
 */
export function matchingVerdict(
  ranks: readonly ComparedRank[],
  sums: readonly SummedDesign[],
  isTrained = false,
): MatchingVerdict {
  const named = (name: string) => sums.find(({ design }) => design.name === name)!
  const [baseline, openMpi, own] = [baselineDesign, openMpiDesign, ownDesign].map(named)
  const least = (value: (sum: SummedDesign) => number) =>
    sums.reduce((so, sum) => (value(sum) < value(so) ? sum : so))
  const best = least(({ ms }) => ms)
  const { searches, traversals } = baseline
  const kind =
    searches === 0
      ? 'none'
      : traversals <= fewEntries * searches || baseline.ms < littleMs || baseline.ms <= alike * best.ms
        ? 'healthy'
        : own.ms <= alike * best.ms
          ? 'own'
          : 'other'
  const passed = ({ cause }: ComparedRank) => cause?.passed ?? 0
  const worst = ranks.reduce<ComparedRank | undefined>(
    (so, rank) => (passed(rank) > (so === undefined ? 0 : passed(so)) ? rank : so),
    undefined,
  )
  const fewestPassed = least((sum) => sum.traversals / Math.max(1, sum.searches))
  const isSelfTrained = !isTrained && [best, fewestPassed].some(({ design }) => needsCounts(design))
  return { kind, baseline, openMpi, own, best, fewestPassed, isSelfTrained, worst }
}

/** The elements before the one that a search found, or in a queue in which it found none. */
export interface PassedElements {
  /** The lowest and the highest source, wildcards left out; undefined if all are wildcards. */
  readonly sources?: readonly [number, number]
  readonly distinctSources: number
  readonly distinctTags: number
  readonly anySource: number
}

/** The search of a group that passed most entries in the single list, to half as many again. */
interface DeepestSearch {
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
type SearchOrder = 'newest-first' | 'oldest-first' | 'mixed'

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
class SearchCauses {
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
