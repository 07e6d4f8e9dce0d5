import { requireText } from '../../base/known-options.js'
import {
  checkOptions,
  optionHelp,
  optionsText,
  parsedOptions,
  writtenOptions,
} from '../../base/option-table.js'
import { shown, wrongValue } from '../../errors.js'
import type { Parameters } from '../../schedule/ir.js'
import type { GroupingOptions } from '../../topology/friends/grouping-options.js'
import { type Allgather, allgatherStrategy } from './allgather.js'
import { type Cartesian, cartesian } from './cartesian.js'
import { type CommonNeighbor, commonNeighbor } from './common-neighbor.js'
import { type Cumulative, cumulative } from './cumulative.js'
import { type Descending, descending } from './descending.js'
import { type Direct, direct } from './direct.js'
import { type Hierarchical, hierarchical } from './hierarchical.js'
import { type Lanes, lanes } from './lanes.js'
import { type Pipelined, pipelined } from './pipelined.js'
import { type Routed, routed } from './routed.js'
import type { StrategyKind } from './strategy-kind.js'

export type {
  Allgather,
  Cartesian,
  CommonNeighbor,
  Cumulative,
  Descending,
  Direct,
  Hierarchical,
  Lanes,
  Pipelined,
  Routed,
}

/**
 * The strategies that turn a topology into a neighbor-allgather schedule. The table of strategies has the kinds and
 * their effects (docs/neighborhood-strategies.md#options).
 */
export type Strategy =
  | Direct
  | CommonNeighbor
  | Descending
  | Cumulative
  | Routed
  | Hierarchical
  | Lanes
  | Cartesian
  | Allgather
  | Pipelined

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

/** The kinds whose options callers may also give as words of their own. */
export const kindsWithWords: readonly string[] = Object.entries<{ readonly hasOptionWords?: true }>(
  strategies,
)
  .filter(([, { hasOptionWords }]) => hasOptionWords === true)
  .map(([kind]) => kind)

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

/** Returns how an engine groups the friends of a strategy; undefined for strategies without, and for `auto`. */
export function groupingOf(strategy: { readonly kind: string }): Omit<GroupingOptions, 'nodeOf'> | undefined {
  const kinds: Readonly<Record<string, unknown>> = strategies
  return (kinds[strategy?.kind] as StrategyKind<Strategy> | undefined)?.grouping?.(strategy as Strategy)
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

/**
 * Parses a strategy from its line of text: its kind, then a colon and options in any order, joined by commas: `direct`,
 * `common-neighbor:k=4,mode=aware`, `routed:radices=4.4,first=highest`. Numbers of a list are joined by dots, lists by
 * slashes. Options left out have the defaults of the kind.
 *
 * @throws ERR_STRATEGY with what was expected and what arrived
 */
export function parseStrategy(text: string): Strategy {
  return parseStrategyBeside([], text)
}

/** Parses as {@link parseStrategy} does, for a caller that reads `others` itself: an error names these kinds, too. */
export function parseStrategyBeside(others: readonly string[], text: string): Strategy {
  requireText('parseStrategy', text)
  const colon = text.indexOf(':')
  const kind = colon < 0 ? text : text.slice(0, colon)
  if (!Object.hasOwn(strategies, kind)) return fail(text, [...others, kindsText].join(', '), kind)
  const { options } = strategyKind({ kind } as Strategy)
  if (colon >= 0 && Object.keys(options).length === 0)
    return fail(text, `${kind} without options`, text.slice(colon))
  const written = colon < 0 ? undefined : text.slice(colon + 1)
  const values = parsedOptions(options, written, (expected, got) => fail(text, expected, got))
  return { kind, ...values } as Strategy
}

/** Returns the line of text that {@link parseStrategy} reads as this strategy. */
export function formatStrategy(strategy: Strategy): string {
  const options = optionsText(strategyKind(strategy).options, strategy)
  return options === '' ? strategy.kind : `${strategy.kind}:${options}`
}

/** Returns the given options of a strategy, as a schedule names them. */
export function parametersOf(strategy: Strategy): Parameters {
  const written = writtenOptions(strategyKind(strategy).options, strategy)
  return Object.fromEntries(
    written.map(({ word, value, text }) => [word, Array.isArray(value) ? text : value]),
  ) as Parameters
}

function fail(text: string, expected: string, got: string): never {
  const where = got === text ? 'strategy' : `strategy ${shown(text)}`
  throw wrongValue('ERR_STRATEGY', `${where}: expected ${expected}`, got)
}
