import { meanOf } from '../base/search.js'
import { simulate } from '../cost/simulate/simulate.js'
import {
  type Activity,
  activities,
  type PathStep,
  type Simulation,
  type Timeline,
  type Traffic,
} from '../cost/simulate/simulation.js'
import type { Machine } from '../machine/machine.js'
import { profileOf, profileOrigin, profileRemark } from '../machine/network.js'
import type { Level } from '../machine/profile.js'
import { startsUntilPaid } from '../neighborhood/choose/simulated.js'
import type { LoweredSchedule } from '../schedule/lower/program.js'
import { rowStarts } from '../topology/compressed-rows.js'
import { type Histogram, histograms } from './histogram.js'

/** A plan and direct sends on a machine, for one length of a block. All times are simulated. */
export interface SimulationView {
  readonly machine: string
  /** The name of the cost profile and the origin of its costs. */
  readonly profile: string
  /** A caveat about the times; null if there is none. */
  readonly remark: string | null
  readonly bytes: number
  readonly planned: SimulatedView
  readonly direct: SimulatedView
  /** The time of direct sends divided by that of the plan. */
  readonly speedup: number
  /** The times at which ranks finish, in the same bins of whole microseconds. */
  readonly ends: { readonly direct: Histogram; readonly planned: Histogram }
}

interface SimulatedView {
  readonly timeUs: number
  /** The mean time for which a rank is idle because data that it needs have not arrived. */
  readonly meanWaitUs: number
  readonly traffic: Readonly<Record<Level, Traffic>>
  /** The timeline; null for more than {@link mostTimelineMessages} messages. */
  readonly timeline: TimelineView | null
}

/** The comparison of the plan with direct sends for one block length. */
export interface SizeView {
  readonly bytes: number
  /** The simulated times, in microseconds. */
  readonly directUs: number
  readonly plannedUs: number
  readonly speedup: number
  /**
   * The number of starts to break even, as in `Alternative`; null: never, or the planning time is unknown.
   */
  readonly breakEvenStarts: number | null
}

/** The most messages of a timeline: with more, making it would take more than 0.2 GB. */
const mostTimelineMessages = 600_000

interface BothPrograms {
  readonly planned: LoweredSchedule
  readonly direct: LoweredSchedule
}

export function simulationView(
  { planned, direct }: BothPrograms,
  machine: { readonly machine: Machine; readonly text: string },
  shown: { readonly bytes: number; readonly ranks: readonly number[]; readonly rows: number },
): SimulationView {
  const { bytes } = shown
  const of = (program: LoweredSchedule): readonly [SimulatedView, Float64Array] => {
    const timeline = messagesOf(program) <= mostTimelineMessages
    const simulation = simulate(program, machine.machine, { bytes, timeline })
    const { timeUs, waitUs, traffic, endUs } = simulation
    const meanWaitUs = meanOf(waitUs)
    const view = hasTimeline(simulation) ? timelineView(simulation, shown.ranks, shown.rows) : null
    return [{ timeUs, meanWaitUs, traffic, timeline: view }, endUs.map(Math.floor)]
  }
  const [plannedView, plannedEnds] = of(planned)
  const [directView, directEnds] = of(direct)
  const [ofDirect, ofPlanned] = histograms(directEnds, plannedEnds)
  return {
    machine: machine.text,
    profile: profileOrigin(profileOf(machine.machine)),
    remark: profileRemark(machine.machine),
    bytes,
    planned: plannedView,
    direct: directView,
    speedup: plannedView.timeUs === 0 ? 1 : directView.timeUs / plannedView.timeUs,
    ends: { direct: ofDirect, planned: ofPlanned },
  }
}

/**
 * @param moreMs time of choosing, and of planning beyond that of direct sends; null: unknown. The result `known` is not simulated again.
 */
export function sizeViews(
  { planned, direct }: BothPrograms,
  machine: Machine,
  {
    sizes,
    known,
    moreMs,
  }: { readonly sizes: readonly number[]; readonly known: SimulationView; readonly moreMs: number | null },
): SizeView[] {
  return sizes.map((bytes) => {
    const isKnown = bytes === known.bytes
    const directUs = isKnown ? known.direct.timeUs : simulate(direct, machine, { bytes }).timeUs
    const plannedUs = isKnown ? known.planned.timeUs : simulate(planned, machine, { bytes }).timeUs
    return {
      bytes,
      directUs,
      plannedUs,
      speedup: plannedUs === 0 ? 1 : directUs / plannedUs,
      breakEvenStarts: moreMs === null ? null : startsUntilPaid(moreMs, directUs - plannedUs),
    }
  })
}

function messagesOf({ programs }: LoweredSchedule): number {
  return programs.reduce((sum, { counts }) => sum + counts.framesSent, 0)
}

function hasTimeline(simulation: Simulation): simulation is Simulation & { readonly timeline: Timeline } {
  return simulation.timeline !== null
}

/**
 * The activities of some ranks' processors and the waits between ranks. Times are simulated microseconds after a common
 * start.
 */
export interface TimelineView {
  /** The names of activities; intervals hold their indices. */
  readonly activities: readonly Activity[]
  /** The ranks that are shown, ascending; at most {@link mostRows}. */
  readonly ranks: readonly number[]
  /** The bounds of each shown rank's intervals: `start[i]` up to the next. */
  readonly start: readonly number[]
  readonly activity: readonly number[]
  /** The other end of a send or receive, or the sender that is waited for; -1 otherwise. */
  readonly peer: readonly number[]
  readonly startUs: readonly number[]
  readonly endUs: readonly number[]
  /**
   * Whether some rank had too many intervals: then each interval stands for the activity that took most of its time.
   */
  readonly isMerged: boolean
  /** The last {@link mostSteps} steps of the critical path. */
  readonly path: readonly PathStep[]
  readonly pathSteps: number
  /** The longest waits of all ranks, summed per pair, longest first; at most {@link mostWaits}. */
  readonly waits: readonly WaitView[]
}

interface WaitView {
  readonly rank: number
  readonly for: number
  readonly us: number
  readonly times: number
}

const mostRows = 64
const mostSteps = 500
const mostWaits = 30
const mostIntervals = 16_000

/** The activities of processors; the others are of messages in flight. */
const ofProcessors: readonly Activity[] = ['send', 'receive', 'pack', 'unpack', 'combine', 'copy', 'wait']
const isOfProcessor = activities.map((name) => ofProcessors.includes(name))

/**
 * @param simulation with its timeline
 * @param asked ranks that are shown in any case
 * @param rows ranks to show: those requested, those at the end of the critical path, then those that are busy longest
 */
function timelineView(
  simulation: Simulation & { readonly timeline: Timeline },
  asked: readonly number[],
  rows: number,
): TimelineView {
  const { timeline, criticalPath, timeUs } = simulation
  const ranks = ranksToShow(simulation, asked, Math.min(rows, mostRows))
  // Intervals are sorted by rank.
  const bounds = rowStarts(simulation.endUs.length, timeline.rank)
  const most = Math.floor(mostIntervals / Math.max(1, ranks.length))
  const start = [0]
  const columns = {
    activity: [] as number[],
    peer: [] as number[],
    startUs: [] as number[],
    endUs: [] as number[],
  }
  let isMerged = false
  for (const rank of ranks) {
    const own = intervalsOf(timeline, bounds[rank], bounds[rank + 1])
    const shown = own.length <= most ? own : merged(own, timeUs, most)
    isMerged ||= shown !== own
    for (const { activity, peer, from, to } of shown) {
      columns.activity.push(activity)
      columns.peer.push(peer)
      columns.startUs.push(rounded(from))
      columns.endUs.push(rounded(to))
    }
    start.push(columns.activity.length)
  }
  const path = criticalPath.slice(-mostSteps).map((step) => ({
    ...step,
    startUs: rounded(step.startUs),
    endUs: rounded(step.endUs),
  }))
  const waits = longestWaits(timeline)
  return { activities, ranks, start, ...columns, isMerged, path, pathSteps: criticalPath.length, waits }
}

interface Interval {
  readonly activity: number
  readonly peer: number
  readonly from: number
  readonly to: number
}

function ranksToShow(
  { criticalPath, endUs, waitUs }: Simulation,
  asked: readonly number[],
  rows: number,
): number[] {
  const shown = new Set<number>(asked.slice(0, rows))
  for (let i = criticalPath.length - 1; i >= 0 && shown.size < rows / 2; i--) shown.add(criticalPath[i].rank)
  const byBusyTime = Array.from(endUs, (_, rank) => rank).sort(
    (a, b) => endUs[b] - waitUs[b] - (endUs[a] - waitUs[a]) || a - b,
  )
  for (const rank of byBusyTime) {
    if (shown.size >= rows) break
    shown.add(rank)
  }
  return [...shown].sort((a, b) => a - b)
}

function intervalsOf(timeline: Timeline, first: number, end: number): Interval[] {
  const own: Interval[] = []
  for (let i = first; i < end; i++) {
    if (!isOfProcessor[timeline.activity[i]] || timeline.endUs[i] <= timeline.startUs[i]) continue
    own.push({
      activity: timeline.activity[i],
      peer: timeline.peer[i],
      from: timeline.startUs[i],
      to: timeline.endUs[i],
    })
  }
  return own
}

/** Merges intervals into at most `most` columns of equal length, each of the activity that takes most of it. */
function merged(own: readonly Interval[], timeUs: number, most: number): Interval[] {
  const perColumn = timeUs / most
  const best: (Interval | undefined)[] = new Array(most)
  const share = new Float64Array(most)
  for (const interval of own) {
    const last = Math.min(most - 1, Math.floor(interval.to / perColumn))
    for (let column = Math.floor(interval.from / perColumn); column <= last; column++) {
      const within =
        Math.min(interval.to, (column + 1) * perColumn) - Math.max(interval.from, column * perColumn)
      if (within <= share[column]) continue
      share[column] = within
      best[column] = interval
    }
  }
  const result: Interval[] = []
  for (const [column, interval] of best.entries()) {
    if (interval === undefined) continue
    const previous = result[result.length - 1]
    const from = column * perColumn
    const to = from + perColumn
    const continues =
      previous !== undefined &&
      previous.to >= from &&
      previous.activity === interval.activity &&
      previous.peer === interval.peer
    if (continues) result[result.length - 1] = { ...previous, to }
    else result.push({ ...interval, from, to })
  }
  return result
}

/** Sums waits per pair of ranks. Memory: one number per pair in which one rank waits for the other. */
function longestWaits({ rank, activity, peer, startUs, endUs }: Timeline): WaitView[] {
  const wait = activities.indexOf('wait')
  const sums = new Map<number, { us: number; times: number }>()
  for (let i = 0; i < rank.length; i++) {
    if (activity[i] !== wait || peer[i] === -1) continue
    const key = rank[i] * 2 ** 26 + peer[i]
    const sum = sums.get(key)
    const us = endUs[i] - startUs[i]
    if (sum === undefined) sums.set(key, { us, times: 1 })
    else {
      sum.us += us
      sum.times++
    }
  }
  return [...sums]
    .sort(([a, first], [b, second]) => second.us - first.us || a - b)
    .slice(0, mostWaits)
    .map(([key, { us, times }]) => ({
      rank: Math.floor(key / 2 ** 26),
      for: key % 2 ** 26,
      us: rounded(us),
      times,
    }))
}

/** Rounds to nanoseconds, the simulator's unit. */
function rounded(us: number): number {
  return Math.round(us * 1000) / 1000
}
