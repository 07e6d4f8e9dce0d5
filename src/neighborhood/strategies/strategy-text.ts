import { requireText } from '../../base/known-options.js'
import { optionsText, parsedOptions, writtenOptions } from '../../base/option-table.js'
import { shown, wrongValue } from '../../errors.js'
import type { Parameters } from '../../schedule/ir.js'
import { kindsText, strategies, strategyKind } from './strategies.js'
import type { Strategy } from './strategy.js'

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
  throw wrongValue('ERR_STRATEGY', `strategy ${shown(text)}: expected ${expected}`, got)
}
