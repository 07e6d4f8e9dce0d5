import { medianOf } from '../../base/search.js'
import type { ProcessFacts, QueueCounts } from './design.js'
import { matchingDesigns, type NamedDesign } from './designs.js'
import {
  type MeteredReplay,
  meteredReplay,
  type PackedTrace,
  type ReplayLimit,
  type SearchTimes,
  timedReplay,
} from './packed-replay.js'
import { countSources, type QueueReport } from './replay.js'
import { type SearchCause, SearchCauses } from './search-causes.js'

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
