import { RankweaveError, shown } from '../../errors.js'
import { allgatherStrategy } from '../strategies/allgather.js'
import { cartesian } from '../strategies/cartesian.js'
import { commonNeighbor } from '../strategies/common-neighbor-strategy.js'
import { cumulative } from '../strategies/cumulative.js'
import { descending } from '../strategies/descending.js'
import { hierarchical } from '../strategies/hierarchical.js'
import { lanes } from '../strategies/lanes.js'
import { pipelined } from '../strategies/pipelined.js'
import { routed } from '../strategies/routed.js'
import type { StrategyKind } from '../strategies/strategy-kind.js'
import { direct } from './direct.js'
import type { Strategy } from './strategy.js'

type KindOf<K extends Strategy['kind']> = StrategyKind<Extract<Strategy, { readonly kind: K }>>

/** All strategies. Whatever differs from kind to kind is here. */
export const strategies: { readonly [K in Strategy['kind']]: KindOf<K> } = {
  direct,
  'common-neighbor': commonNeighbor,
  descending,
  cumulative,
  routed,
  hierarchical,
  lanes,
  cartesian,
  allgather: allgatherStrategy,
  pipelined,
}

export const strategyKinds = Object.keys(strategies) as readonly Strategy['kind'][]

/** @throws ERR_STRATEGY for what is not a strategy */
export function strategyKind(strategy: Strategy): StrategyKind<Strategy> {
  if (typeof strategy !== 'object' || strategy === null)
    throw new RankweaveError(
      'ERR_STRATEGY',
      `expected a strategy such as { kind: 'routed' }, got ${shown(strategy)}`,
    )
  const { kind } = strategy
  if (typeof kind !== 'string' || !Object.hasOwn(strategies, kind))
    throw new RankweaveError('ERR_STRATEGY', `expected strategy ${kindsText}, got ${shown(kind)}`)
  // A kind is handed its own strategies alone.
  return strategies[kind] as unknown as StrategyKind<Strategy>
}

/** The kinds in words, for errors. */
export const kindsText = strategyKinds.join(', ').replace(/, (?=[^ ]*$)/, ' or ')

/** One line of help per strategy. */
export const strategiesHelp = strategyKinds.map((kind) => `  ${strategies[kind].help}`).join('\n')
