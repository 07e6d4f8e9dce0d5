import { segmentsOf } from '../../collective/algorithm-text.js'
import { algorithmOf } from '../../collective/algorithms.js'
import type { Algorithm } from '../../collective/patterns/algorithm.js'
import { RankweaveError } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import type { CollectiveContext } from './collective-context.js'
import type { CollectivePlan, PlanChoice } from './collective-plan.js'
import { type CallFacts, defaultChoice, defaultSegments } from './default-rule.js'
import type { Method } from './method.js'
import { placesRefusal } from './participant-places.js'
import { tunedSegments } from './tuned-calls.js'

/** An algorithm for a call, and the number of segments into which it cuts every unit of data. */
export interface Chosen {
  readonly algorithm: Algorithm
  readonly segments: number
  /** Undefined for a choice that came with the root's message. */
  readonly choice?: PlanChoice
}

/**
 * Chooses how a collective that combines nothing moves its data: the choice of its ranks, or else of the rule. Returns
 * null for the messages that the collective's own file writes.
 *
 * @param sizeBytes of a unit of data
 * @param isOnline whether all processes know it, so that online tuning may choose
 */
export function chooseMove(
  state: CollectiveContext,
  collective: Collective,
  method: Method | undefined,
  sizeBytes: number,
  isOnline = true,
): Chosen | null {
  const facts = factsOf(state, collective, sizeBytes)
  if (method?.algorithm !== undefined) {
    const { algorithm } = method
    const segments = namedSegments({ ...method, algorithm }, sizeBytes, state.processes.count)
    return { algorithm, segments, choice: namedBy(method, facts) }
  }
  const tuned = chooseTuned(state, collective, method?.segments, facts, isOnline)
  if (tuned !== undefined && 'algorithm' in tuned) return tuned
  const choice = defaultChoice(facts)
  const why: PlanChoice = { by: 'rule', facts, leaf: tuned?.leaf, refusal: tuned?.refusal }
  if (choice === null) {
    state.plans.inlineChoice = why
    return null
  }
  const segments = method?.segments ?? choice.segments
  return { algorithm: algorithmOf(choice.id), segments, choice: why }
}

/** Returns why the algorithm that its method names carries out a call. */
export function namedBy({ chosenFor }: Method, facts: CallFacts): PlanChoice {
  return chosenFor === undefined ? { by: 'call', facts } : { by: 'machine', facts, chosenFor }
}

/**
 * Returns the setting of the tuning file, or the leaf and the reason why it cannot serve; undefined if the file does
 * not decide.
 */
function chooseTuned(
  state: CollectiveContext,
  collective: Collective,
  given: number | undefined,
  facts: CallFacts,
  isOnline: boolean,
): Chosen | Pick<PlanChoice, 'leaf' | 'refusal'> | undefined {
  const { sizeBytes } = facts
  const online = isOnline ? state.online : undefined
  const tuned = online?.choiceOf(collective, sizeBytes) ?? state.plans.tuned?.choiceOf(collective, sizeBytes)
  if (tuned === undefined) return undefined
  const { leaf, parts } = tuned
  const { setting } = leaf
  if (setting.reason !== null) return { leaf, refusal: setting.reason }
  const { algorithm } = setting
  const segments = given ?? tunedSegments(setting, sizeBytes, parts)
  if (tuned.segments !== segments) {
    tuned.segments = segments
    tuned.refusal = refusalOf(state, algorithm, segments, 0)
  }
  if (tuned.refusal !== null) {
    online?.refused()
    return { leaf, refusal: tuned.refusal }
  }
  return { algorithm, segments, choice: { by: 'file', facts, leaf } }
}

/**
 * Returns the number of segments into which an algorithm that the ranks have chosen cuts every unit of data.
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
 * Returns the plan of a collective whose participants are the processes.
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
  const { algorithm, segmentBytes } = method
  const segments = method.segments ?? algorithm.sections ?? 1
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
  const reason = refusalOf(state, algorithm, segments, root)
  if (reason !== null) throw new RankweaveError('ERR_ALGORITHM', `${algorithm.id}: ${reason}`)
}

function refusalOf(state: CollectiveContext, algorithm: Algorithm, segments: number, root: number) {
  const refusal = placesRefusal(algorithm, state)
  if (refusal !== null || algorithm.refuses === undefined) return refusal
  const { plans } = state
  return algorithm.refuses(plans.shapeOf(algorithm, plans.participants('processes')!, root, segments))
}
