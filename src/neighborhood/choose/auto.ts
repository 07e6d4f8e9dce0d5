import { requireOptions, requireText } from '../../base/known-options.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { RankweaveError, shown } from '../../errors.js'
import type { Strategy } from '../strategies/strategy.js'

/** The library chooses a strategy, for a machine with a profile and a block size. */
export interface AutoStrategy {
  readonly kind: 'auto'
  /**
   * Choose for blocks of this length, whatever is sent. Default: by the length of the blocks of each call.
   */
  readonly bytes?: number
  /**
   * Work that is spent on the choice. Per unit: 4 candidates are simulated, 8 strategies similar to the
   * fastest as well, and one of all is planned; for alltoalls and reductions one candidate is simulated and
   * planned. In proportion: the blocks that they move, and the work of searches for friends. Besides: direct
   * sends, an ordinary allgather and friend groups. 1 to 2^20, default 10.
   */
  readonly budget?: number
}

export const defaultBudget = 10
const largestBudget = 2 ** 20

/** One line of help. */
export const autoHelp = `auto:bytes=4096,budget=${defaultBudget}   the fastest of all for --machine with a profile and --bytes, as simulated; budget: how much is simulated`

/** @throws ERR_STRATEGY for invalid bytes or budget, and for other members */
export function checkAuto(strategy: AutoStrategy): void {
  const { kind: _, bytes = 0, budget = 1, ...others } = strategy
  for (const [name, value] of Object.entries(others)) {
    if (value === undefined) continue
    throw new RankweaveError('ERR_STRATEGY', `auto: expected options among bytes, budget, got ${shown(name)}`)
  }
  requireWhole('bytes', bytes, 0, longestBlockBytes)
  requireWhole('budget', budget, 1, largestBudget)
}

/** False for what is no strategy at all. */
export function isAuto(strategy: Strategy | AutoStrategy): strategy is AutoStrategy {
  return strategy?.kind === 'auto'
}

/**
 * `auto` with any of `bytes=4096`, `budget=16` behind a colon; null for the text of another strategy.
 *
 * @throws ERR_STRATEGY
 */
export function parseAuto(text: string): AutoStrategy | null {
  requireText('parseAuto', text)
  const [kind, ...rest] = text.split(':')
  if (kind !== 'auto') return null
  let strategy: AutoStrategy = { kind }
  for (const option of rest.length === 0 ? [] : rest.join(':').split(',')) {
    const [, name, digits] = /^(bytes|budget)=(\d{1,16})$/.exec(option) ?? []
    if (name === undefined)
      throw new RankweaveError('ERR_STRATEGY', `'${text}': expected bytes=4096 or budget=16, got '${option}'`)
    strategy = { ...strategy, [name]: Number(digits) }
  }
  checkAuto(strategy)
  return strategy
}

export function formatAuto(auto: AutoStrategy): string {
  requireOptions('formatAuto', auto)
  const { bytes, budget } = auto
  const options = [
    bytes === undefined ? '' : `bytes=${bytes}`,
    budget === undefined ? '' : `budget=${budget}`,
  ]
  const given = options.filter((option) => option !== '')
  return given.length === 0 ? 'auto' : `auto:${given.join(',')}`
}

/** @throws ERR_STRATEGY */
function requireWhole(name: string, value: unknown, least: number, most: number): void {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return
  throw new RankweaveError(
    'ERR_STRATEGY',
    `auto: expected ${name} as an integer from ${least} to ${most}, got ${shown(value)}`,
  )
}
