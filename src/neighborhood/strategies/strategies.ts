import { checkOptions, optionHelp } from '../../base/option-table.js'
import { wrongValue } from '../../errors.js'
import { allgatherStrategy } from './allgather.js'
import { cartesian } from './cartesian.js'
import { commonNeighbor } from './common-neighbor.js'
import { cumulative } from './cumulative.js'
import { descending } from './descending.js'
import { direct } from './direct.js'
import { hierarchical } from './hierarchical.js'
import { lanes } from './lanes.js'
import { pipelined } from './pipelined.js'
import { routed } from './routed.js'
import type { Strategy } from './strategy.js'
import type { StrategyKind } from './strategy-kind.js'

type KindOf<K extends Strategy['kind']> = StrategyKind<Extract<Strategy, { readonly kind: K }>>

/** All strategies. Everything that differs from kind to kind is here. */
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

/** @throws ERR_STRATEGY unless it is a strategy */
export function strategyKind(strategy: Strategy): StrategyKind<Strategy> {
  if (typeof strategy !== 'object' || strategy === null)
    throw wrongValue('ERR_STRATEGY', "expected a strategy such as { kind: 'routed' }", strategy)
  const { kind } = strategy
  if (typeof kind !== 'string' || !Object.hasOwn(strategies, kind))
    throw wrongValue('ERR_STRATEGY', `expected strategy ${kindsText}`, kind)
  // Each kind gets only its own strategies.
  return strategies[kind] as unknown as StrategyKind<Strategy>
}

/**
 * Checks, before anything is sent, everything about a strategy that does not depend on topology and nodes.
 *
 * @returns its kind
 * @throws ERR_STRATEGY
 */
export function checkedKind(strategy: Strategy, ranks: number): StrategyKind<Strategy> {
  const kind = strategyKind(strategy)
  const given = Object.entries(strategy).filter(([name, value]) => name !== 'kind' && value !== undefined)
  checkOptions(strategy.kind, kind.options, Object.fromEntries(given), 'ERR_STRATEGY')
  kind.check?.(strategy, ranks)
  return kind
}

/** The kinds in words, for errors. */
export const kindsText = strategyKinds.join(', ').replace(/, (?=[^ ]*$)/, ' or ')

/** The help text: a line per strategy, and one for each of its options. */
export const strategiesHelp = Object.values(strategies)
  .flatMap(({ help, options }) => [
    `  ${help}`,
    ...Object.entries(options).map(([name, option]) => `      ${optionHelp(name, option)}`),
  ])
  .join('\n')
