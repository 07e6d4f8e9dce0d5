import { wrongValue } from '../../errors.js'
import type { Level } from '../../machine/profile.js'
import type { Parameters } from '../../schedule/ir.js'
import type { NeighborOperation } from '../plan/plan.js'
import type { Strategy } from '../strategies/strategy.js'

/**
 * The operations for which a strategy is chosen. A neighbor reduction in list order moves blocks as an allgather does;
 * one in any order combines them on the way.
 */
export type ChosenOperation = Exclude<NeighborOperation, 'neighbor-reduce'>

const chosenOperations = ['neighbor-allgather', 'neighbor-alltoall', 'neighbor-reduce-any'] as const

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
   * The starts after which planning has cost no more time than it saved compared with direct sends; null if it never
   * does.
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
}
