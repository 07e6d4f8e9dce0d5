import { rangeAt } from '../../base/search.js'
import { algorithmOf } from '../../collective/algorithms.js'
import type { Algorithm, CombinationOrder, Shape } from '../../collective/patterns/algorithm.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import { elementSizeBytes } from '../../messages/datatype/elements.js'
import type { ReadyOperation } from '../../messages/datatype/operation.js'
import type { Collective } from '../../schedule/specification.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import type { CollectivePlan, PlanChoice } from '../plan/collective-plan.js'
import { type CallFacts, defaultChoice } from '../plan/default-rule.js'
import type { Method } from '../plan/method.js'
import { placesRefusal } from '../plan/participant-places.js'
import type { Participants, WholeKind } from '../plan/participants.js'
import { factsOf, namedBy, namedSegments } from '../plan/planned-move.js'
import { isUnplaced, participantsFor, requiredOrder, serves } from '../plan/required-order.js'
import { leftToRule, type TunedLeaf, tunedSegments } from '../plan/tuned-calls.js'
import type { Reduction } from './reduction.js'

/** The most pieces per process of an algorithm that the rule chooses and in which all exchange messages with all. */
const mostPieces = 4

const tooManyRuns = 'the ranks of the communicator are spread over too many runs'
const unknownLocations = 'the locations of the ranks are not known'

type Planned = CollectivePlan | Promise<CollectivePlan>

export interface DrawnSetting {
  readonly leaf: TunedLeaf
  /** Called if the setting cannot serve, so that the rule decides. */
  refused(): void
}

/**
 * Returns the plan of a reduction; a promise if addresses have to be looked up for it. Unless {@link isUnplaced}, it
 * needs the location of every rank.
 *
 * @param drawn in place of the setting of a tuning file
 * @returns null if neither the rule's algorithm nor that along the tree can serve
 * @throws ERR_ALGORITHM if the algorithm that the ranks have chosen cannot serve
 */
export function planReduction(
  state: CollectiveContext,
  collective: Collective,
  reduction: Reduction,
  method: Method | undefined,
  root = 0,
  drawn?: DrawnSetting,
): Planned | null {
  const required = requiredOrder(reduction, method?.isAnyOrder === true)
  const sizeBytes = reduction.countElems * elementSizeBytes(reduction.type)
  const named = method?.algorithm
  const facts = factsOf(state, collective, sizeBytes)
  if (named !== undefined) {
    const unitBytes = unitBytesOf(state, facts)
    const segments = (ranks: number) => namedSegments({ ...method!, algorithm: named }, unitBytes, ranks)
    const plan = tryPlan(state, named, reduction, required, segments, root)
    if (typeof plan !== 'string') return noted(plan, namedBy(method!, facts))
    throw unserved(named, plan)
  }
  const call: PlannedCall = { state, collective, reduction, given: method?.segments, required, facts, root }
  const leaf = drawn?.leaf ?? leafOf(call)
  if (leaf === undefined) return planByRule(call, { by: 'rule', facts })
  const instead = (refusal: string) => planByRule(call, { by: 'rule', facts, leaf, refusal })
  const plan = planTuned(call, leaf)
  if (typeof plan === 'string') {
    if (plan !== leftToRule) drawn?.refused()
    return instead(plan)
  }
  if (!(plan instanceof Promise)) return noted(plan, { by: 'file', facts, leaf })
  return plan.then(
    (found) => noted(found, { by: 'file', facts, leaf }),
    (error) => {
      const other = isRankweaveError(error, 'ERR_ALGORITHM') ? instead(error.message) : null
      drawn?.refused()
      if (other === null) throw error
      return other
    },
  )
}

/** A reduction whose ranks have named no algorithm. */
interface PlannedCall {
  readonly state: CollectiveContext
  readonly collective: Collective
  readonly reduction: Reduction
  readonly given: number | undefined
  readonly required: CombinationOrder
  readonly facts: CallFacts
  readonly root: number
}

function leafOf({ state, collective, reduction, required, facts }: PlannedCall): TunedLeaf | undefined {
  const { op } = reduction
  const operation = op.kind === 'function' ? 'user-defined' : op.name
  const bytes = unitBytesOf(state, facts)
  return state.plans.tuned?.choiceOf(collective, bytes, operation, required)?.leaf
}

/**
 * Returns the bytes by which tuning files count a call: for a reduce-scatter, MPI's count describes the block of one
 * rank.
 */
function unitBytesOf({ size }: CollectiveContext, { collective, sizeBytes }: CallFacts): number {
  return collective === 'reduce-scatter' ? Math.ceil(sizeBytes / size) : sizeBytes
}

/** Plans by the setting of the tuning file, or returns why it cannot serve. */
function planTuned(call: PlannedCall, { setting }: TunedLeaf): Planned | string {
  const { state, collective, reduction, given, required, facts, root } = call
  if (setting.reason !== null) return setting.reason
  const { algorithm } = setting
  const kind = participantsFor(algorithm, required)
  if (collective === 'reduce-scatter' && !isPiecesFew(state, kind as WholeKind)) return tooManyRuns
  if (collective !== 'reduce-scatter' && state.wasDistributed && !isUnplaced(algorithm, required))
    return unknownLocations
  const unitBytes = unitBytesOf(state, facts)
  const segments = (ranks: number) =>
    given ?? tunedSegments(setting, unitBytes, algorithm.parts?.({ ranks, segments: 1 }) ?? 1)
  return tryPlan(state, algorithm, reduction, required, segments, root)
}

function planByRule(call: PlannedCall, why: PlanChoice): Planned | null {
  const { state, collective, reduction, given: segmentsGiven, required, facts, root } = call
  const choice = defaultChoice(facts)
  if (choice === null) return null
  const { id, segments } = choice
  let instead: string | undefined
  for (const each of [id, `${collective}-tree`]) {
    const algorithm = algorithmOf(each)
    if (collective === 'reduce-scatter') {
      const kind = participantsFor(algorithm, required)
      const { length } = state.plans.participants(kind as WholeKind)?.process ?? { length: Infinity }
      if (length > mostPieces * state.processes.count) return null
    }
    const given = () => segmentsGiven ?? segments
    const plan = leftByRule(call, algorithm) ?? tryPlan(state, algorithm, reduction, required, given, root)
    if (typeof plan !== 'string') return noted(plan, instead === undefined ? why : { ...why, instead })
    instead ??= `not ${each}: ${plan}`
  }
  return null
}

/**
 * Returns why the rule avoids an algorithm that it prefers, although the algorithm might serve the call;
 * null if it does not.
 */
function leftByRule(
  { state, collective, reduction, required }: PlannedCall,
  algorithm: Algorithm,
): string | null {
  if (collective === 'reduce-scatter') return null
  if (state.wasDistributed && !isUnplaced(algorithm, required)) return unknownLocations
  const { op } = reduction
  const kind = participantsFor(algorithm, required) as WholeKind
  if (algorithm.id === 'allreduce-segmented' && !isPiecesFew(state, kind)) return tooManyRuns
  if (algorithm.id !== 'allreduce-recursive-doubling') return null
  if (op.kind === 'function') return `operation ${op.name} is a function, which both processes would run`
  return isPieceEach(state, kind) ? null : 'a process would take part more than once'
}

function noted(plan: Planned, choice: PlanChoice): Planned {
  if (plan instanceof Promise) return plan.then((each) => noted(each, choice))
  plan.choice = choice
  return plan
}

/**
 * Tells whether every process has one piece. With more pieces, an exchange has more messages and combinations than the
 * tree.
 */
function isPieceEach(state: CollectiveContext, kind: WholeKind): boolean {
  return state.plans.participants(kind)?.process.length === state.processes.count
}

/** Tells whether the pieces are few. With more of them, each process sends more than in the tree of processes. */
function isPiecesFew(state: CollectiveContext, kind: WholeKind): boolean {
  const participants = state.plans.participants(kind)
  return participants !== null && participants.process.length <= mostPieces * state.processes.count
}

/**
 * Returns the plan, or the reason why there is none.
 *
 * @param segmentsFor how many, by the number of participants
 */
function tryPlan(
  state: CollectiveContext,
  algorithm: Algorithm,
  { op }: Reduction,
  required: CombinationOrder,
  segmentsFor: (ranks: number) => number,
  root: number,
): Planned | string {
  const kind = participantsFor(algorithm, required)
  if (kind === 'path') {
    const segments = segmentsFor(state.size)
    return isCut(op, segments) ? cutting(op.name) : state.plans.pathPlan(algorithm, root, segments)
  }
  const refusal = placesRefusal(algorithm, state)
  if (refusal !== null) return refusal
  const { plans } = state
  const participants = plans.participants(kind)
  if (participants === null) return tooManyRuns
  const segments = segmentsFor(participants.process.length)
  const rootIndex = kind === 'processes' ? state.processOfRank(root) : rangeAt(participants.firstRank!, root)
  const planFor = (index: number): CollectivePlan | string => {
    const shape = plans.shapeOf(algorithm, participants, index, segments)
    return planOf(state, algorithm, op, required, shape, participants)
  }
  if (typeof rootIndex === 'number') return planFor(rootIndex)
  return rootIndex.then((index) => {
    const plan = planFor(index)
    if (typeof plan !== 'string') return plan
    throw unserved(algorithm, plan)
  })
}

function planOf(
  state: CollectiveContext,
  algorithm: Algorithm,
  op: ReadyOperation,
  required: CombinationOrder,
  shape: Shape,
  participants: Participants,
): CollectivePlan | string {
  const { segments = 1, root = 0 } = shape
  const reason = algorithm.refuses?.(shape) ?? null
  if (reason !== null) return reason
  const isByRank = algorithm.collective === 'reduce-scatter'
  if (isCut(op, isByRank ? shape.ranks : (algorithm.parts?.(shape) ?? segments))) return cutting(op.name)
  if (serves(algorithm, shape, required)) return state.plans.plan(algorithm, participants, root, segments)
  return required === 'tree'
    ? "it associates differently from the tree, which changes the bits of the result: pass order: 'any'"
    : `it does not combine in rank order, and operation ${op.name} does not commute`
}

function isCut(op: ReadyOperation, parts: number): boolean {
  return parts > 1 && op.kind === 'function'
}

function unserved({ id }: Algorithm, reason: string): RankweaveError {
  return new RankweaveError('ERR_ALGORITHM', `${id}: ${reason}`)
}

function cutting(name: string): string {
  return `it cuts arrays into parts, and operation ${name} takes whole arrays`
}
