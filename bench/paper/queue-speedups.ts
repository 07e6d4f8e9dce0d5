import { smallestOf } from '../../src/base/search.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { nodeOf } from '../../src/machine/machine.js'
import { profileOf } from '../../src/machine/network.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { formatStrategy, type Strategy } from '../../src/neighborhood/strategies/strategies.js'
import { lower } from '../../src/schedule/lower/lower.js'
import { upTo } from '../../src/schedule/specification.js'
import type { Study } from '../../src/study/study.js'
import type { Setting } from './chapter.js'

/** Blocks of 4 bytes: where the chapter prints the largest factors. */
const blockBytes = 4

/**
 * Nanoseconds per entry passed. The first two are measured with the linked list of the matching designs: the
 * median of an earlier measurement, whose conditions are not recorded, and 16,384 entries on a busy virtual
 * machine of two AMD EPYC cores, 28 November 2026. The last is assumed.
 */
export const entryCosts = [
  { nsPerEntry: 4.5, source: 'measured earlier: the median of all lengths' },
  { nsPerEntry: 11.6, source: 'measured: 16,384 entries, busy computer' },
  { nsPerEntry: 100, source: 'assumed: every entry is a miss in all caches' },
] as const

/** Strategies of a graph that are simulated again: the fastest without costs of searches. */
const mostCombinations = 2

/** What searches of the queues make of direct sends and of combining, simulated. */
export interface QueueRow {
  readonly graph: string
  /** Entries that direct sends pass per rank, the mean; and the most that they could: n(n + 1)/2 for n messages. */
  readonly directPassed: number
  readonly mostPassed: number
  /** Entries that the fastest combination passes per rank, without costs of searches. */
  readonly combinedPassed: number
  readonly combined: string
  /** Direct sends / the fastest combination without costs of searches. */
  readonly speedup: number
  /** The same by {@link entryCosts}, the fastest at each of those simulated. */
  readonly withSearches: readonly number[]
}

/** Simulates the fastest strategies of the studies again, with each of {@link entryCosts}. */
export function queueSpeedups(
  settings: readonly Pick<Setting, 'name' | 'topology' | 'machine' | 'strategies'>[],
  studies: readonly Study[],
  onSetting: (what: string) => void,
): QueueRow[] {
  return settings.flatMap((setting, i) => {
    const study = studies[i]
    const at = study.bytes.indexOf(blockBytes)
    const speedupOf = (strategy: Strategy): number =>
      study.strategies.find((each) => each.strategy === formatStrategy(strategy))?.simulated[at]?.speedup ?? 0
    const combinations = setting.strategies
      .filter((strategy) => speedupOf(strategy) > 0)
      .sort((a, b) => speedupOf(b) - speedupOf(a))
      .slice(0, mostCombinations)
    if (combinations.length === 0) return []
    const topology = setting.topology()
    const nodes = nodeOf(setting.machine, topology.ranks)
    const simulated = (strategy: Strategy) => {
      onSetting(`${setting.name}, queues, ${formatStrategy(strategy)}`)
      const lowered = lower(plan(topology, strategy, { nodeOf: nodes }).schedule, upTo(topology.ranks))
      return entryCosts.map(({ nsPerEntry }) => {
        const profile = { ...profileOf(setting.machine), matchNsPerEntry: nsPerEntry }
        return simulate(lowered, { ...setting.machine, profile }, { bytes: blockBytes })
      })
    }
    const direct = simulated({ kind: 'direct' })
    const combined = combinations.map(simulated)
    const passed = (simulation: (typeof direct)[number]) =>
      (simulation.matching?.entriesPassed ?? 0) / topology.ranks
    return [
      {
        graph: setting.name,
        directPassed: passed(direct[0]),
        mostPassed: mostPassed(topology.inStart),
        combinedPassed: passed(combined[0][0]),
        combined: formatStrategy(combinations[0]),
        speedup: speedupOf(combinations[0]),
        withSearches: direct.map(
          ({ timeUs }, cost) => timeUs / smallestOf(combined.map((all) => all[cost].timeUs)),
        ),
      },
    ]
  })
}

/** Where every message passes all receives that are left; per rank, the mean. */
function mostPassed(inStart: ArrayLike<number>): number {
  let sum = 0
  for (let rank = 0; rank + 1 < inStart.length; rank++) {
    const messages = inStart[rank + 1] - inStart[rank]
    sum += (messages * (messages + 1)) / 2
  }
  return sum / (inStart.length - 1)
}
