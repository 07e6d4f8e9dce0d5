import type { Strategy } from '../strategies/strategy.js'
import { formatStrategy } from '../strategies/strategy-text.js'
import { type Extents, similarTo, withoutDefaults } from './similar.js'
import type { Simulated } from './simulated.js'

/** How much a search may do, whatever the computer. */
export interface SearchLimits {
  /** Strategies that are simulated. */
  readonly strategies: number
  /** Blocks that they move together. */
  readonly moves: number
}

export interface Found {
  /** The fastest; null where none is faster than what the search began with. */
  readonly best: Simulated | null
  readonly tried: number
}

/** A strategy whose similar ones have not all been tried. */
interface Open {
  readonly timeUs: number
  /** Strategies similar to it, those to try next at the end. */
  readonly left: Strategy[]
}

/**
 * Searches for faster strategies among those similar to the fastest, and to what is found: it always tries
 * the next of those similar to the fastest that has any left. In steps of a strategy each.
 *
 * @param known what was simulated before; the search begins with all of them
 */
export function* searchAround(
  known: readonly Pick<Simulated, 'strategy' | 'timeUs'>[],
  extents: Extents,
  limits: SearchLimits,
  simulate: (strategy: Strategy) => Simulated,
): Generator<void, Found> {
  const open = (strategy: Strategy, timeUs: number): Open => ({
    timeUs,
    left: similarTo(strategy, extents).reverse(),
  })
  const identityOf = (strategy: Strategy): string => formatStrategy(withoutDefaults(strategy))
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
