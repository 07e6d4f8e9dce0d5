import { requireText } from '../../base/known-options.js'
import { RankweaveError, shown } from '../../errors.js'
import type { Parameters } from '../../schedule/ir.js'
import { kindsText, strategies, strategyKind } from './strategies.js'
import type { Strategy } from './strategy.js'
import type { StrategyKind } from './strategy-kind.js'
import type { StrategyOption } from './strategy-option.js'

/**
 * A strategy from its line of text: its kind, then a colon and options in any order, joined by commas:
 * `direct`, `common-neighbor:k=4,mode=aware`, `routed:radices=4.4,first=highest`. Numbers of a list are
 * joined by dots, lists by slashes. Options left out have the defaults of the kind.
 *
 * @throws ERR_STRATEGY saying what was expected and what arrived
 */
export function parseStrategy(text: string): Strategy {
  requireText('parseStrategy', text)
  const colon = text.indexOf(':')
  const word = colon < 0 ? text : text.slice(0, colon)
  const given = colon < 0 ? [] : text.slice(colon + 1).split(',')
  if (!Object.hasOwn(strategies, word)) return fail(text, kindsText, word)
  const kind = strategyKind({ kind: word } as Strategy)
  const fields = fieldsByName(kind)
  if (fields.size === 0 && given.length > 0) return fail(text, `${word} without options`, text.slice(colon))
  const values: Record<string, unknown> = { ...kind.initial }
  const seen = new Set<string>()
  for (const words of given) {
    const equals = words.indexOf('=')
    const name = equals < 0 ? words : words.slice(0, equals)
    const value = equals < 0 ? '' : words.slice(equals + 1)
    if (seen.has(name)) return fail(text, `${name} once`, words)
    seen.add(name)
    const found = fields.get(name)
    if (found === undefined) return fail(text, inWords([...fields.keys()]), name)
    const { field, option } = found
    const parsed = option.parse(value)
    if (parsed === undefined)
      return fail(text, option.expected(name), option.isWord ? `${name}=${value}` : value)
    values[field] = parsed
  }
  return values as unknown as Strategy
}

/** The line of text that {@link parseStrategy} reads as this strategy. */
export function formatStrategy(strategy: Strategy): string {
  const words = formatted(strategy).map(({ name, text }) => `${name}=${text}`)
  return words.length === 0 ? strategy.kind : `${strategy.kind}:${words.join(',')}`
}

/** The options of a strategy that are given, as a schedule names them. */
export function parametersOf(strategy: Strategy): Parameters {
  return Object.fromEntries(
    formatted(strategy).map(({ name, value, text }) => [name, Array.isArray(value) ? text : value]),
  ) as Parameters
}

function formatted(strategy: Strategy) {
  return [...fieldsByName(strategyKind(strategy))].flatMap(([name, { field, option }]) => {
    const value = (strategy as unknown as Readonly<Record<string, unknown>>)[field]
    return value === undefined ? [] : [{ name, value, text: option.format(value) }]
  })
}

function fieldsByName({ options }: StrategyKind<Strategy>) {
  const entries = Object.entries(options as Readonly<Record<string, StrategyOption>>)
  return new Map(entries.map(([field, option]) => [option.name ?? field, { field, option }]))
}

function inWords(names: readonly string[]): string {
  return names.join(', ').replace(/, (?=[^ ]*$)/, ' or ')
}

function fail(text: string, expected: string, got: string): never {
  throw new RankweaveError('ERR_STRATEGY', `strategy ${shown(text)}: expected ${expected}, got ${shown(got)}`)
}
