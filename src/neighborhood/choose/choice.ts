import { wrongValue } from '../../errors.js'
import type { Level } from '../../machine/profile.js'
import type { Parameters } from '../../schedule/ir.js'
import type { NeighborOperation } from '../plan/plan.js'
import type { Strategy } from '../strategies/strategy.js'

/**
 * What a strategy is chosen for. A neighbor reduction in list order moves blocks as an allgather does; one in
 * any order combines on the way.
 */
export type ChosenOperation = Exclude<NeighborOperation, 'neighbor-reduce'>

const chosenOperations = ['neighbor-allgather', 'neighbor-alltoall', 'neighbor-reduce-any'] as const

/** @throws ERR_ARGUMENT for an operation that nothing is chosen for */
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
  /** Predicted by the simulator, until the last rank is done. */
  readonly timeUs: number
  /** Messages between processes. */
  readonly messages: number
  /** Payload of the messages by how far they go. */
  readonly bytes: Readonly<Record<Level, number>>
  /** Measured while it was planned, so it differs from run to run. */
  readonly planMs: number
  /** Starts after which planning has cost no more time than it saved against direct sends; null: never. */
  readonly breakEvenStarts: number | null
  /**
   * Planning took too little time to be measured by one run: `breakEvenStarts` is for {@link exactMs}, so
   * fewer may do.
   */
  readonly breakEvenIsAtMost: boolean
}

/**
 * Planning that takes longer than planning direct sends by this is taken as measured; a shorter time is
 * mostly noise.
 */
export const exactMs = 20

/** A candidate that was not simulated. */
export interface Unsimulated {
  readonly strategy: string
  /** A lower bound of what the simulator would predict, not an estimate: it may take far longer. */
  readonly atLeastUs: number
  /**
   * `slower`: `atLeastUs` exceeds the time of the fastest that was simulated. `budget`: as many as it allows
   * were simulated; `moves`: the plan would move more blocks than the budget allows; `friends`: the search
   * for friends and the plan would take more work than it allows.
   */
  readonly because: 'slower' | 'budget' | 'moves' | 'friends'
}

/** What was chosen, and among what. */
export interface Choice {
  readonly strategy: Strategy
  readonly chosen: Alternative
  /**
   * By time; the chosen one, direct sends and an ordinary allgather without what no rank needs are among
   * them.
   */
  readonly alternatives: readonly Alternative[]
  /**
   * Of those that were not simulated the first few by estimate, the best of every kind, and all with friend
   * groups.
   */
  readonly notSimulated: readonly Unsimulated[]
  /** Candidates whose time was estimated. */
  readonly considered: number
  /** Strategies similar to the fastest candidates that were simulated as well. */
  readonly searched: number
  /** What it is for. */
  readonly operation: ChosenOperation
  /** Bytes of every block that it is for. */
  readonly bytes: number
}
