import { segmentsOf } from '../../collective/algorithm-text.js'
import { algorithmOf } from '../../collective/algorithms.js'
import type { Algorithm } from '../../collective/patterns/algorithm.js'
import { RankweaveError } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import type { CollectiveContext } from './collective-context.js'
import { type CollectivePlan, type PlanChoice, shapeOf } from './collective-plan.js'
import { type CallFacts, defaultChoice, defaultSegments } from './default-rule.js'
import type { Method } from './method.js'

/** An algorithm for a call, and into how many segments it cuts every unit of data. */
export interface Chosen {
  readonly algorithm: Algorithm
  readonly segments: number
  /** Undefined for a choice that came with the root's message. */
  readonly choice?: PlanChoice
}

/**
 * How a collective that combines nothing is done: by what its ranks have chosen, or else by the rule; null
 * for the messages that its own file writes.
 *
 * @param sizeBytes of a unit of data
 */
export function chooseMove(
  state: CollectiveContext,
  collective: Collective,
  method: Method | undefined,
  sizeBytes: number,
): Chosen | null {
  const facts = factsOf(state, collective, sizeBytes)
  if (method?.algorithm !== undefined) {
    const { algorithm } = method
    const segments = namedSegments({ ...method, algorithm }, sizeBytes, state.processes.count)
    return { algorithm, segments, choice: { isNamed: true, facts } }
  }
  const choice = defaultChoice(facts)
  if (choice === null) return null
  const segments = method?.segments ?? choice.segments
  return { algorithm: algorithmOf(choice.id), segments, choice: { isNamed: false, facts } }
}

/**
 * Into how many segments an algorithm that the ranks have chosen cuts every unit of data.
 *
 * @param ranks participants
 */
export function namedSegments(
  { algorithm, segments, segmentBytes }: Method & { readonly algorithm: Algorithm },
  sizeBytes: number,
  ranks: number,
): number {
  if (segments !== undefined) return segments
  if (segmentBytes === undefined) return defaultSegments(algorithm, sizeBytes)
  return segmentsOf({ algorithm, segmentBytes }, sizeBytes, ranks)!
}

/** What the rule takes into account. */
export function factsOf(
  { processes, runtime, plans }: CollectiveContext,
  collective: Collective,
  sizeBytes: number,
): CallFacts {
  return {
    collective,
    processes: processes.count,
    isOversubscribed: runtime.fabric.isOversubscribed === true,
    isMemoryShared: plans.isMemoryShared,
    eagerLimitBytes: runtime.options.eagerLimitBytes,
    sizeBytes,
  }
}

/**
 * The plan of a collective whose participants are the processes.
 *
 * @param root its process index
 * @throws ERR_ALGORITHM when the algorithm does not take this number of processes
 */
export function planMove(
  state: CollectiveContext,
  { algorithm, segments, choice }: Chosen,
  root = 0,
): CollectivePlan {
  requireServed(state, algorithm, segments, root)
  const plan = state.plans.plan(algorithm, state.plans.participants('processes')!, root, segments)
  if (choice !== undefined) plan.choice = choice
  return plan
}

/**
 * Refuses a method, before the ranks join the call, by what they all know of it.
 *
 * @param isSized whether the processes that plan know how long a unit is
 * @throws ERR_ALGORITHM
 */
export function requireMethod(
  state: CollectiveContext,
  method: Method | undefined,
  { isSized }: { readonly isSized: boolean },
): void {
  if (method?.algorithm === undefined) return
  const { algorithm, segments = 1, segmentBytes } = method
  requireServed(state, algorithm, segments)
  if (isSized || segmentBytes === undefined) return
  const reason = 'the ranks do not know how long the blocks of others are: say segments instead of segment'
  throw new RankweaveError('ERR_ALGORITHM', `${algorithm.id}: ${reason}`)
}

/** @throws ERR_ALGORITHM */
export function requireServed(
  state: CollectiveContext,
  algorithm: Algorithm,
  segments: number,
  root = 0,
): void {
  const shape = shapeOf(state.plans.participants('processes')!, root, segments)
  const reason = algorithm.refuses?.(shape) ?? null
  if (reason !== null) throw new RankweaveError('ERR_ALGORITHM', `${algorithm.id}: ${reason}`)
}
