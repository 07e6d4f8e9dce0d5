import { requireOptions, requireText } from '../../base/known-options.js'
import { integerOption, type OptionTable } from '../../base/option.js'
import { checkOptions, optionsText, parsedOptions } from '../../base/option-table.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { shown, wrongValue } from '../../errors.js'
import type { Level } from '../../machine/profile.js'
import type { Parameters } from '../../schedule/ir.js'
import type { NeighborCollective } from '../../schedule/specification.js'
import type { NeighborOperation } from '../plan/plan.js'
import type { Strategy } from '../strategies/strategies.js'

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

const autoOptions = {
  bytes: integerOption({
    ...{ least: 0, most: longestBlockBytes },
    help: 'length of the blocks that a strategy is chosen for',
    computed: 'that of the blocks of each call',
  }),
  budget: integerOption({ least: 1, most: 2 ** 20, help: 'how much is simulated', default: 10 }),
} satisfies OptionTable<Omit<AutoStrategy, 'kind'>>

export const defaultBudget = autoOptions.budget.default

/** The line of help on `auto`. */
export const autoHelp = `auto:bytes=4096,budget=${defaultBudget}   the fastest of all for --machine with a profile and --bytes, as simulated; budget: how much is simulated`

/** @throws ERR_STRATEGY for invalid bytes or budget, and for other members */
export function checkAuto({ kind: _, ...given }: AutoStrategy): void {
  checkOptions('auto', autoOptions, given, 'ERR_STRATEGY')
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
  const values = parsedOptions(autoOptions, written, (expected, got) => {
    throw wrongValue('ERR_STRATEGY', `strategy ${shown(text)}: expected ${expected}`, got)
  })
  return { kind, ...values }
}

export function formatAuto(auto: AutoStrategy): string {
  requireOptions('formatAuto', auto)
  const written = optionsText(autoOptions, auto)
  return written === '' ? 'auto' : `auto:${written}`
}

/**
 * The operations for which a strategy is chosen. A neighbor reduction in list order moves blocks as an allgather does;
 * one in any order combines them on the way.
 */
export type ChosenOperation = Exclude<NeighborOperation, 'neighbor-reduce'>

const chosenOperations = ['neighbor-allgather', 'neighbor-alltoall', 'neighbor-reduce-any'] as const

/** Returns the operation whose choice a neighborhood collective takes. */
export function chosenFor(operation: NeighborCollective): ChosenOperation {
  return operation === 'neighbor-reduce' ? 'neighbor-allgather' : operation
}

/** @throws ERR_ARGUMENT for an operation for which no strategy is chosen */
export function checkedChosen(where: string, operation: unknown): ChosenOperation {
  if (chosenOperations.includes(operation as ChosenOperation)) return operation as ChosenOperation
  const expected = `${where}: expected an operation among ${chosenOperations.join(', ')}`
  throw wrongValue('ERR_ARGUMENT', expected, operation)
}

/** A strategy that was planned and simulated. */
export interface Alternative {
  /** Its line of text, as `parseStrategy` reads it. */
  readonly strategy: string
  readonly parameters: Parameters
  /** The time that the simulator predicts until the last rank is done. */
  readonly timeUs: number
  /** The number of messages between processes. */
  readonly messages: number
  /** The payload of the messages by the level that they cross. */
  readonly bytes: Readonly<Record<Level, number>>
  /** The measured planning time, which differs from run to run. */
  readonly planMs: number
  /**
   * The starts to break even: choosing and planning, measured, have then cost no more time than starts save, simulated,
   * compared with direct sends; null: never.
   */
  readonly breakEvenStarts: number | null
  /**
   * Whether planning was too short to be measured by one run. `breakEvenStarts` then assumes {@link exactMs}, so fewer
   * starts may suffice.
   */
  readonly breakEvenIsAtMost: boolean
}

/**
 * A planning time that exceeds that of direct sends by this is taken as measured; a smaller difference is mostly noise.
 */
export const exactMs = 20

/** A candidate that was not simulated. */
export interface Unsimulated {
  readonly strategy: string
  /** A lower bound of the time that the simulator would predict, not an estimate: the strategy may take far longer. */
  readonly atLeastUs: number
  /**
   * The reason. `slower`: `atLeastUs` exceeds the time of the fastest simulated strategy. `budget`: the budget allows
   * no further simulation. `moves`: the plan would move more blocks than it allows. `friends`: the search for friends
   * and the plan would take more work than it allows.
   */
  readonly because: 'slower' | 'budget' | 'moves' | 'friends'
}

/** The chosen strategy and its alternatives. */
export interface Choice {
  readonly strategy: Strategy
  readonly chosen: Alternative
  /**
   * The alternatives by time. They include the chosen one, direct sends, and an ordinary allgather without the blocks
   * that no rank needs.
   */
  readonly alternatives: readonly Alternative[]
  /**
   * Strategies that were not simulated: the first few by estimate, the best of every kind, and all with friend groups.
   */
  readonly notSimulated: readonly Unsimulated[]
  /** The number of candidates whose time was estimated. */
  readonly considered: number
  /** The number of strategies similar to the fastest candidates that were simulated as well. */
  readonly searched: number
  /** The operation for which the choice was made. */
  readonly operation: ChosenOperation
  /** The bytes of every block for which the choice was made. */
  readonly bytes: number
  /** The measured time of choosing, which differs from run to run. */
  readonly choiceMs: number
}
