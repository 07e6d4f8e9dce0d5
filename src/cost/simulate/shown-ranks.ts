import { RankweaveError } from '../../errors.js'
import type { Simulation, Timeline } from './simulation.js'

/**
 * Returns the ranks of a picture that holds at most `most`, ascending. If more than `most` do anything, up to half are
 * those at the end of the critical path, and the others lie at equal distances.
 */
export function shownRanks({ criticalPath, timeline }: Simulation, most: number): Int32Array {
  const busy = [...new Set(timelineIn(timeline).rank)]
  if (busy.length <= most) return Int32Array.from(busy)
  const shown = new Set<number>()
  for (let i = criticalPath.length - 1; i >= 0 && shown.size < most / 2; i--) shown.add(criticalPath[i].rank)
  const others = busy.filter((rank) => !shown.has(rank))
  const left = most - shown.size
  for (let i = 0; i < left; i++) shown.add(others[Math.floor((i * others.length) / left)])
  return Int32Array.from(shown).sort()
}

/** Returns the timeline of a simulation. @throws ERR_SIMULATION for a simulation without a timeline */
export function timelineIn(timeline: Timeline | null): Timeline {
  if (Object(timeline).rank instanceof Int32Array) return timeline!
  const message = 'expected a simulation with a timeline (timeline: true), got none'
  throw new RankweaveError('ERR_SIMULATION', message)
}

/** Returns the first interval of every rank in `ranks`, and the one after its last. */
export function intervalsOf(
  { rank }: Timeline,
  ranks: Int32Array,
): ReadonlyMap<number, readonly [number, number]> {
  const rows = new Map<number, readonly [number, number]>()
  const isShown = new Set(ranks)
  for (let first = 0; first < rank.length; ) {
    let end = first
    while (end < rank.length && rank[end] === rank[first]) end++
    if (isShown.has(rank[first])) rows.set(rank[first], [first, end])
    first = end
  }
  return rows
}
