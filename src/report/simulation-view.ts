import { meanOf } from '../base/search.js'
import { simulate } from '../cost/simulate/simulate.js'
import type { Simulation, Timeline, Traffic } from '../cost/simulate/simulation.js'
import type { Machine } from '../machine/machine.js'
import { profileOf, profileOrigin, profileRemark } from '../machine/network.js'
import type { Level } from '../machine/profile.js'
import { startsUntilPaid } from '../neighborhood/choose/simulated.js'
import type { LoweredSchedule } from '../schedule/lower/program.js'
import { type Histogram, histograms } from './histogram.js'
import { type TimelineView, timelineView } from './timeline-view.js'

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

export interface SimulatedView {
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
   * The number of starts after which planning has paid off; null if it never does, or if the planning time is unknown.
   */
  readonly breakEvenStarts: number | null
}

/** The most messages of a timeline: with more, making it would take more than 0.2 GB. */
export const mostTimelineMessages = 600_000

export interface BothPrograms {
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
 * @param moreMs planning time beyond that of direct sends; null: unknown. The result `known` is not simulated again.
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
      breakEvenStarts: moreMs === null ? null : startsUntilPaid(Math.max(0, moreMs), directUs - plannedUs),
    }
  })
}

function messagesOf({ programs }: LoweredSchedule): number {
  return programs.reduce((sum, { counts }) => sum + counts.framesSent, 0)
}

function hasTimeline(simulation: Simulation): simulation is Simulation & { readonly timeline: Timeline } {
  return simulation.timeline !== null
}
