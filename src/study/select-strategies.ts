import { atOnce } from '../base/slices.js'
import type { Machine } from '../machine/machine.js'
import { candidateLoads, type LoadedCandidate } from '../neighborhood/choose/candidate-loads.js'
import { isGrouped } from '../neighborhood/choose/candidates.js'
import { estimateUs, type HopLoad } from '../neighborhood/choose/estimate.js'
import type { Strategy } from '../neighborhood/strategies/strategy.js'
import { formatStrategy } from '../neighborhood/strategies/strategy-text.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import type { LeftOut } from './study.js'

export interface SelectOptions {
  readonly bytes: readonly number[]
  /** The strategies to study; null for those that are worth a study. */
  readonly given: readonly Strategy[] | null
  /** The choices of `auto` for the lengths, studied in any case. */
  readonly auto: readonly Strategy[]
}

/** The most blocks in the messages of a strategy: planning takes about 200 bytes and 1 us per block. */
export const mostBlocks = 2 ** 23

/** The most strategies of one kind, the best for the shortest and the longest blocks among them. */
const perKind = 3

const direct: Strategy = { kind: 'direct' }

/**
 * Strategies by friend groups, whose messages an estimate knows only after planning: the published ones and later ones.
 */
const byFriends: readonly Strategy[] = [
  ...([2, 4, 8] as const).map((k): Strategy => ({ kind: 'common-neighbor', k, mode: 'aware' })),
  ...([2, 4] as const).map((k): Strategy => ({ kind: 'common-neighbor', k, mode: 'agnostic' })),
  { kind: 'descending', ks: [4, 3, 2], mode: 'aware' },
  { kind: 'cumulative', k: 2, mode: 'aware' },
]

/**
 * Returns the strategies of a study, direct sends first, then the given ones. Without given ones, it takes the choices
 * of `auto`, strategies by friend groups, and at most {@link perKind} of every kind that an estimate finds best for
 * some length. Deterministic.
 *
 * @throws ERR_STRATEGY for a given strategy that cannot be planned for the topology
 */
export function selectStrategies(
  topology: ProcessTopology,
  machine: Machine,
  nodes: Int32Array,
  { bytes, given, auto }: SelectOptions,
): { readonly strategies: readonly Strategy[]; readonly leftOut: readonly LeftOut[] } {
  if (given !== null) return { strategies: distinct([direct, ...given]), leftOut: [] }
  const byKind = new Map<string, LoadedCandidate[]>()
  for (const loaded of atOnce(candidateLoads(topology, nodes)).candidates) {
    const { strategy } = loaded
    // The estimate has only a lower bound for friend groups.
    if (strategy.kind === 'direct' || isGrouped(strategy)) continue
    byKind.set(strategy.kind, [...(byKind.get(strategy.kind) ?? []), loaded])
  }
  const strategies: Strategy[] = [direct]
  const leftOut: LeftOut[] = []
  for (const loaded of byKind.values()) {
    for (const { strategy, load } of bestOf(loaded, (of, length) =>
      estimateUs(of, machine, topology.ranks, length),
    )(bytes)) {
      const blocks = topology.ranks * load.reduce((sum, hop) => sum + hop.blocks[0] + hop.blocks[1], 0)
      if (blocks <= mostBlocks) strategies.push(strategy)
      else
        leftOut.push({
          strategy: formatStrategy(strategy),
          reason: `its messages carry about ${Math.round(blocks / 1e6)} million blocks, more than ${mostBlocks}`,
        })
    }
  }
  return { strategies: distinct([...strategies, ...auto, ...byFriends]), leftOut }
}

/** The estimated gain, for some length, from which a strategy is studied separately from others of its kind. */
const worthwhile = 0.1

/** Returns the best for the lengths, alternately from both ends, until there are {@link perKind}. */
function bestOf(
  loaded: readonly LoadedCandidate[],
  estimate: (load: readonly HopLoad[], bytes: number) => number,
) {
  return (bytes: readonly number[]): LoadedCandidate[] => {
    const found: number[] = []
    for (let i = 0; i < bytes.length && found.length < perKind; i++) {
      const length = bytes[i % 2 === 0 ? i / 2 : bytes.length - (i + 1) / 2]
      const times = loaded.map(({ load }) => estimate(load, length))
      const best = times.reduce((least, time, each) => (time < times[least] ? each : least), 0)
      if (found.every((each) => times[best] < (1 - worthwhile) * times[each])) found.push(best)
    }
    return found.map((each) => loaded[each])
  }
}

function distinct(strategies: readonly Strategy[]): Strategy[] {
  return [...new Map(strategies.map((strategy) => [formatStrategy(strategy), strategy])).values()]
}
