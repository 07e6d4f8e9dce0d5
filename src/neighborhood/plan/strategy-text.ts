import { RankweaveError, shown } from '../../errors.js'
import { type GroupingEngine, groupingEngines } from '../../topology/friends/grouping-options.js'
import type { CommonNeighbor, Strategy } from './strategy.js'

/**
 * A strategy from its line of text: `direct`, or `common-neighbor:k=4,mode=aware` with any of `theta=6`,
 * `dedupe=false`, `elide=false`, `engine=improved`, `labels=7` (a seed) behind it, or `routed:radices=4.4,first=highest`.
 * Defaults: k=2, mode=agnostic; radices of 2, first=lowest.
 *
 * @throws ERR_STRATEGY saying what was expected and what arrived
 */
export function parseStrategy(text: string): Strategy {
  const colon = text.indexOf(':')
  const kind = colon < 0 ? text : text.slice(0, colon)
  const options = colon < 0 ? [] : text.slice(colon + 1).split(',')
  if (kind === 'direct' && options.length === 0) return { kind }
  if (kind === 'direct') return fail(text, 'direct without options', text.slice(colon))
  if (kind === 'routed') return parseRouted(text, options)
  if (kind !== 'common-neighbor') return fail(text, 'direct, common-neighbor or routed', kind)
  const seen = new Set<string>()
  let strategy: CommonNeighbor = { kind, k: 2, mode: 'agnostic' }
  for (const option of options) {
    const equals = option.indexOf('=')
    const name = equals < 0 ? option : option.slice(0, equals)
    const value = equals < 0 ? '' : option.slice(equals + 1)
    if (seen.has(name)) return fail(text, `${name} once`, option)
    seen.add(name)
    strategy = { ...strategy, ...parseOption(text, name, value) }
  }
  return strategy
}

function parseRouted(text: string, options: readonly string[]): Strategy {
  let strategy: Strategy = { kind: 'routed' }
  for (const option of options) {
    const [name, value = ''] = option.split('=')
    if (name === 'first' && (value === 'lowest' || value === 'highest'))
      strategy = { ...strategy, first: value }
    else if (name === 'radices') {
      const radices = value.split('.').map((radix) => parseWhole(text, name, radix, 2))
      strategy = { ...strategy, radices }
    } else return fail(text, 'radices=2.2 or first=lowest or first=highest', option)
  }
  return strategy
}

function parseOption(text: string, name: string, value: string): Partial<CommonNeighbor> {
  switch (name) {
    case 'k':
      return { k: parseWhole(text, name, value, 2) }
    case 'theta':
      return { theta: parseWhole(text, name, value, 0) }
    case 'mode':
      if (value === 'aware' || value === 'agnostic') return { mode: value }
      return fail(text, 'mode=aware or mode=agnostic', `mode=${value}`)
    case 'dedupe':
    case 'elide':
      if (value === 'true' || value === 'false') return { [name]: value === 'true' }
      return fail(text, `${name}=true or ${name}=false`, `${name}=${value}`)
    case 'engine':
      if (groupingEngines.includes(value as GroupingEngine)) return { engine: value as GroupingEngine }
      return fail(text, `engine=${groupingEngines.join(', engine=')}`, `engine=${value}`)
    case 'labels':
      return { labelSeed: parseWhole(text, name, value, 0) }
    default:
      return fail(text, 'k, mode, theta, dedupe, elide, engine or labels', name)
  }
}

function parseWhole(text: string, name: string, value: string, least: number): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && Number.isSafeInteger(number) && number >= least) return number
  return fail(text, `${name}, an integer >= ${least}`, value)
}

function fail(text: string, expected: string, got: string): never {
  throw new RankweaveError('ERR_STRATEGY', `strategy ${shown(text)}: expected ${expected}, got ${shown(got)}`)
}

/** The line of text that {@link parseStrategy} reads as this strategy. */
export function formatStrategy(strategy: Strategy): string {
  if (strategy.kind === 'direct') return 'direct'
  if (strategy.kind === 'routed') {
    const { radices, first } = strategy
    const words = [radices && `radices=${radices.join('.')}`, first && `first=${first}`].filter(Boolean)
    return words.length === 0 ? 'routed' : `routed:${words.join(',')}`
  }
  const { kind, ...options } = strategy
  const order = ['k', 'mode', 'theta', 'dedupe', 'elide', 'engine', 'labelSeed'] as const
  const given = order.filter((name) => options[name] !== undefined)
  const words = given.map((name) => `${name === 'labelSeed' ? 'labels' : name}=${options[name]}`)
  return `${kind}:${words.join(',')}`
}
