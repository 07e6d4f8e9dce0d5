import { withDefaults } from '../../base/option-table.js'
import { formatStrategy, type Strategy, strategyKind } from '../strategies/strategies.js'
import type { Extents } from '../strategies/strategy-kind.js'
import { similarTo } from './candidates.js'
import type { Simulated } from './simulated.js'

/** The limits of a search, on any computer. */
interface SearchLimits {
  /** The number of strategies to simulate. */
  readonly strategies: number
  /** The blocks that they may move together. */
  readonly moves: number
}

export interface Found {
  /** The fastest strategy; null if none is faster than those with which the search began. */
  readonly best: Simulated | null
  readonly tried: number
}

/** A strategy whose similar ones have not all been tried. */
interface Open {
  readonly timeUs: number
  /** The strategies similar to it, the next to try at the end. */
  readonly left: Strategy[]
}

/**
 * Searches for faster strategies among those similar to the fastest, including those that it finds. It always tries the
 * next strategy similar to the fastest one that has any left. Each step of the generator is a strategy.
 *
 * @param known the strategies simulated before; the search begins with all of them
 */
export function* localSearch(
  known: readonly Pick<Simulated, 'strategy' | 'timeUs'>[],
  extents: Extents,
  limits: SearchLimits,
  simulate: (strategy: Strategy) => Simulated,
): Generator<void, Found> {
  const open = (strategy: Strategy, timeUs: number): Open => ({
    timeUs,
    left: similarTo(strategy, extents).reverse(),
  })
  const seen = new Set(known.map(({ strategy }) => identityOf(strategy)))
  const frontier = known.map(({ strategy, timeUs }) => open(strategy, timeUs))
  frontier.sort((a, b) => b.timeUs - a.timeUs)
  let best: Simulated | null = null
  let leastUs = frontier.at(-1)?.timeUs ?? 0
  let [tried, moves] = [0, 0]
  while (frontier.length > 0 && tried < limits.strategies && moves < limits.moves) {
    const strategy = frontier[frontier.length - 1].left.pop()
    if (strategy === undefined) {
      frontier.pop()
      continue
    }
    const identity = identityOf(strategy)
    if (seen.has(identity)) continue
    seen.add(identity)
    const found = simulate(strategy)
    tried++
    moves += found.moved
    const at = frontier.findLastIndex(({ timeUs }) => timeUs > found.timeUs)
    frontier.splice(at + 1, 0, open(strategy, found.timeUs))
    if (found.timeUs < leastUs) {
      best = found
      leastUs = found.timeUs
    }
    yield
  }
  return { best, tried }
}

/**
 * Returns its text with the defaults of its options, which is equal for strategies that differ only in what they write
 * out.
 */
function identityOf(strategy: Strategy): string {
  return formatStrategy(withDefaults(strategyKind(strategy).options, strategy))
}
