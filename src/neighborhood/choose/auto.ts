import { requireOptions, requireText } from '../../base/known-options.js'
import { integerOption, type OptionTable } from '../../base/option.js'
import { checkOptions, optionsText, parsedOptions } from '../../base/option-table.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { shown, wrongValue } from '../../errors.js'
import type { Strategy } from '../strategies/strategy.js'

/** Lets the library choose a strategy, for a machine with a profile and a block size. */
export interface AutoStrategy {
  readonly kind: 'auto'
  /** The length of blocks for which to choose, whatever is sent. Default: that of the blocks of each call. */
  readonly bytes?: number
  /**
   * The work that the choice may take. Per unit, 4 candidates and 8 strategies similar to the fastest are simulated,
   * and one of all is planned; for alltoalls and reductions one candidate is simulated and planned. The limits on moved
   * blocks and on searches for friends grow in proportion. The budget does not limit direct sends, an ordinary
   * allgather and friend groups. Nor does it limit the best candidate of every kind without one, within 2^18 moved
   * blocks per unit, or 2^19 pairs and blocks with friends. 1 to 2^20, default 10.
   */
  readonly budget?: number
}

const options = {
  bytes: integerOption({
    ...{ least: 0, most: longestBlockBytes },
    help: 'length of the blocks that a strategy is chosen for',
    computed: 'that of the blocks of each call',
  }),
  budget: integerOption({ least: 1, most: 2 ** 20, help: 'how much is simulated', default: 10 }),
} satisfies OptionTable<Omit<AutoStrategy, 'kind'>>

export const defaultBudget = options.budget.default

/** The line of help on `auto`. */
export const autoHelp = `auto:bytes=4096,budget=${defaultBudget}   the fastest of all for --machine with a profile and --bytes, as simulated; budget: how much is simulated`

/** @throws ERR_STRATEGY for invalid bytes or budget, and for other members */
export function checkAuto({ kind: _, ...given }: AutoStrategy): void {
  checkOptions('auto', options, given, 'ERR_STRATEGY')
}

/** Whether it is `auto`; false for values that are not strategies. */
export function isAuto(strategy: Strategy | AutoStrategy): strategy is AutoStrategy {
  return strategy?.kind === 'auto'
}

/**
 * Parses `auto` with any of `bytes=4096`, `budget=16` behind a colon; null for the text of another strategy.
 *
 * @throws ERR_STRATEGY
 */
export function parseAuto(text: string): AutoStrategy | null {
  requireText('parseAuto', text)
  const [kind, ...rest] = text.split(':')
  if (kind !== 'auto') return null
  const written = rest.length === 0 ? undefined : rest.join(':')
  const values = parsedOptions(options, written, (expected, got) => {
    throw wrongValue('ERR_STRATEGY', `strategy ${shown(text)}: expected ${expected}`, got)
  })
  return { kind, ...values }
}

export function formatAuto(auto: AutoStrategy): string {
  requireOptions('formatAuto', auto)
  const written = optionsText(options, auto)
  return written === '' ? 'auto' : `auto:${written}`
}
