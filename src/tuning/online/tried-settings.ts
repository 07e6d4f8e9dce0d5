import type { TuningCall } from '../settings/tuning-call.js'
import type { SizeTimes } from './size-times.js'

/** The calls per setting after which a run has drawn each once, except with a chance below 1 in 20,000. */
const callsOfEach = 10

/** The number of settings below which each has a probability of at least 3%; otherwise it is one over their number. */
const mostOfLeast = 34

/**
 * Returns the numbers of the settings that runs may draw for a call: all except those that evidently cannot serve it.
 * Such a setting would otherwise have had one of so many calls of the size, at the place or of the collective.
 *
 * @param sizes of the collective
 * @param settings how many the collective has
 */
export function drawnSettings(
  sizes: Iterable<SizeTimes>,
  settings: number,
): (call: TuningCall) => readonly number[] {
  const tried = new Map<string, { calls: number; readonly numbers: Set<number> }>()
  for (const { call, calls, timesUs } of sizes)
    for (const group of groupsOf(call)) {
      const known = tried.get(group) ?? { calls: 0, numbers: new Set() }
      known.calls += calls
      for (const number of timesUs.keys()) known.numbers.add(number)
      tried.set(group, known)
    }
  const enough = callsOfEach * Math.max(settings, mostOfLeast)
  const all = Array.from({ length: settings }, (_, i) => i + 1)
  return (call) => {
    const evidence = groupsOf(call)
      .flatMap((group) => tried.get(group) ?? [])
      .filter(({ calls }) => calls >= enough)
    return all.filter((number) => evidence.every(({ numbers }) => numbers.has(number)))
  }
}

/** Returns groups of calls that mostly the same settings serve: of one size, of one place, of the collective. */
function groupsOf({ bytes, nodes, processesPerNode }: TuningCall): readonly string[] {
  return [`${nodes} ${processesPerNode} ${bytes}`, `${nodes} ${processesPerNode}`, '']
}
