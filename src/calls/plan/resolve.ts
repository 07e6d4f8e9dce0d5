import { getOrAdd } from '../../base/maps.js'
import { whenThere } from '../../base/turn.js'
import { segmentsOf } from '../../collective/algorithm-text.js'
import { algorithmOf } from '../../collective/algorithms.js'
import type { Algorithm, CombinationOrder } from '../../collective/patterns/algorithm.js'
import { RankweaveError } from '../../errors.js'
import type { ReadyOperation } from '../../messages/datatype/operation.js'
import type { Collective } from '../../schedule/specification.js'
import { leftToDefault } from '../../tuning/online/grid-selection.js'
import type { Exchange } from '../exchange/exchange.js'
import type {
  CollectiveContext,
  CollectivePlan,
  PlanChoice,
  Resolution,
  Unplanned,
} from './collective-plan.js'
import { type CallFacts, defaultChoice, defaultSegments } from './default-rule.js'
import type { MachineChoice } from './machine-choices.js'
import { isSameMethod, type Method } from './method.js'
import { isUnplaced, participantsFor, placesRefusal, serves, type WholeKind } from './participants.js'
import { leftToRule, type TunedLeaf, tunedSegments } from './tuned-calls.js'

/** A call whose algorithm is wanted, as far as all processes that resolve it know it. */
export interface CallToPlan {
  readonly collective: Collective
  /** The method that the ranks pass; undefined if they leave all to the table. */
  readonly method: Method | undefined
  /** The bytes of the data; of a reduce-scatter, those of all blocks together. */
  readonly sizeBytes: number
  /**
   * Whether only some processes know the lengths. Then `sizeBytes` is 0 for lists, which have lengths and short blocks,
   * and infinite for the long blocks that follow.
   */
  readonly isUnsized?: true
  /** The operation of a reduction, and the order in which it must combine. */
  readonly reduction?: CombiningCall
  /** The root: a rank of a reduction, the process index of another collective. Default 0. */
  readonly root?: number
}

/** The facts of a reduction on which its algorithm depends. They retain no function of a user. */
export interface CombiningCall {
  readonly op: Pick<ReadyOperation, 'kind' | 'name'>
  readonly order: CombinationOrder
}

/**
 * Returns the plan of a call: of the algorithm to which the table of {@link sources} resolves it. It is a promise if
 * the machine has to choose first, or addresses have to be looked up. A reduction is null if no algorithm serves it.
 *
 * @param exchange of the call, if online tuning may draw its setting
 * @throws ERR_ALGORITHM as {@link resolve}
 */
export function planOf(
  state: CollectiveContext,
  call: CallToPlan & { readonly reduction: CombiningCall },
  exchange?: Exchange,
): CollectivePlan | null | Promise<CollectivePlan | null>
export function planOf(
  state: CollectiveContext,
  call: CallToPlan,
  exchange?: Exchange,
): CollectivePlan | Promise<CollectivePlan>
export function planOf(
  state: CollectiveContext,
  call: CallToPlan,
  exchange?: Exchange,
): CollectivePlan | null | Promise<CollectivePlan | null> {
  return whenThere(resolve(state, call, exchange), (resolution) => planResolved(state, call, resolution))
}

/** Returns the plan of a call with what {@link resolve} has found for it. */
export function planResolved(
  { plans }: CollectiveContext,
  { root = 0, reduction }: CallToPlan,
  resolution: Resolution | Unplanned,
): CollectivePlan | null | Promise<CollectivePlan | null> {
  if (resolution.algorithm === null) return null
  if (reduction === undefined) return plans.movePlan(resolution, root)
  return plans.reductionPlan(resolution, reduction.order, root)
}

/**
 * Finds the algorithm that carries out a call; without an algorithm, the collective sends its messages itself. The
 * answer is a promise only if the machine of the world has to choose. A communicator retains the last answer for each
 * collective and drawn setting, and an equal call gets the same object.
 *
 * @throws ERR_ALGORITHM if the algorithm that the ranks or the machine have chosen cannot serve, or none can with the
 *   segments that the ranks pass
 */
export function resolve(
  state: CollectiveContext,
  call: CallToPlan,
  exchange?: Exchange,
): Resolution | Unplanned | Promise<Resolution | Unplanned> {
  const drawn = exchange?.isWatched === true ? drawnFor(state, call, exchange) : leftToDefault
  const last = lastOf(state, call.collective)
  let known = last[drawn]
  if (known === undefined || !isSameCall(known.call, call)) {
    const resolution = firstOf(sources, pendingCall(state, call, drawn))
    if (resolution instanceof Promise) return resolution
    known = { call, resolution }
    last[drawn] = known
  }
  if (drawn !== leftToDefault && isRefusal(known.resolution)) state.online!.refused(exchange!)
  return known.resolution
}

/**
 * The sources of the algorithm of a call, in their order: the first that has a setting decides. If no source has one,
 * or a tuned setting cannot serve the call, the rule decides ({@link defaultChoice}).
 *
 * All sources depend only on what the processes that resolve a call share, so they resolve it alike (decision 8).
 */
const sources: readonly Source[] = [
  { settingOf: namedByCall, isBinding: true },
  { settingOf: chosenByMachine, isBinding: true },
  { settingOf: drawnOnline, isBinding: false },
  { settingOf: inTuningFile, isBinding: false },
]

interface Source {
  /** Returns a promise if the setting has to be computed first. */
  settingOf(call: PendingCall): Setting | undefined | Promise<Setting | undefined>
  /** Whether a setting that cannot serve fails the call; otherwise the rule decides. */
  readonly isBinding: boolean
}

type Setting = UsableSetting | { readonly choice: PlanChoice; readonly refusal: string }

interface UsableSetting {
  readonly choice: PlanChoice
  readonly refusal: null
  readonly algorithm: Algorithm
  /** Returns the number of segments for so many participants. */
  segmentsFor(participants: number): number
}

interface PendingCall extends CallToPlan {
  readonly state: CollectiveContext
  /** The bytes of what MPI's count describes, by which methods and tuning files cut and decide. */
  readonly unitBytes: number
  readonly order: CombinationOrder
  /** The number of the setting that online tuning has drawn. */
  readonly drawn: number
}

function pendingCall(state: CollectiveContext, call: CallToPlan, drawn: number): PendingCall {
  const { collective, sizeBytes, reduction } = call
  const unitBytes = collective === 'reduce-scatter' ? Math.ceil(sizeBytes / state.size) : sizeBytes
  return { ...call, state, unitBytes, drawn, order: reduction?.order ?? 'any' }
}

/** Draws the setting of a call that online tuning watches, unless its ranks have chosen the algorithm. */
function drawnFor(state: CollectiveContext, call: CallToPlan, exchange: Exchange): number {
  const { collective, method, sizeBytes, reduction } = call
  if (method?.algorithm !== undefined || method?.isAuto === true) return leftToDefault
  return state.online!.draw(exchange, collective, sizeBytes, reduction?.order)
}

/** Tells whether the setting that was drawn for a call cannot serve it, so that the rule has decided. */
function isRefusal({ choice }: Resolution | Unplanned): boolean {
  return choice?.refusal !== undefined && choice.refusal !== leftToRule
}

interface ResolvedCall {
  readonly call: CallToPlan
  readonly resolution: Resolution | Unplanned
}

/** The last resolutions of each communicator: by collective, and by number for each setting of online tuning. */
const lastResolved = new WeakMap<CollectiveContext, Map<Collective, (ResolvedCall | undefined)[]>>()

function lastOf(state: CollectiveContext, collective: Collective): (ResolvedCall | undefined)[] {
  return (
    lastResolved.get(state)?.get(collective) ??
    getOrAdd(
      getOrAdd(lastResolved, state, () => new Map()),
      collective,
      () => [],
    )
  )
}

function isSameCall(a: CallToPlan, b: CallToPlan): boolean {
  return (
    a === b ||
    (a.sizeBytes === b.sizeBytes &&
      a.isUnsized === b.isUnsized &&
      isSameMethod(a.method, b.method) &&
      a.reduction?.order === b.reduction?.order &&
      a.reduction?.op.kind === b.reduction?.op.kind &&
      a.reduction?.op.name === b.reduction?.op.name)
  )
}

/** Resolves a call by the first of some sources that has a setting for it. */
function firstOf(
  [source, ...others]: readonly Source[],
  call: PendingCall,
): Resolution | Unplanned | Promise<Resolution | Unplanned> {
  if (source === undefined) return byRule(call, {})
  return whenThere(source.settingOf(call), (setting) =>
    setting === undefined ? firstOf(others, call) : taken(call, setting, source.isBinding),
  )
}

function taken(call: PendingCall, setting: Setting, isBinding: boolean): Resolution | Unplanned {
  const { choice } = setting
  if (setting.refusal !== null) return byRule(call, { leaf: choice.leaf, refusal: setting.refusal })
  const { algorithm } = setting
  const segments =
    (isBinding ? undefined : avoided(call, algorithm)) ?? segmentsOrRefusal(call, algorithm, setting)
  if (typeof segments === 'number') return { algorithm, segments, choice }
  if (isBinding) throw unserved(algorithm.id, segments)
  return byRule(call, { leaf: choice.leaf, refusal: segments })
}

function namedByCall({ method, unitBytes }: PendingCall): Setting | undefined {
  if (method?.algorithm === undefined) return undefined
  const { algorithm, segments, segmentBytes } = method
  const segmentsFor = (participants: number): number => {
    if (segments !== undefined) return segments
    if (segmentBytes === undefined) return defaultSegments(algorithm, unitBytes)
    return segmentsOf({ algorithm, segmentBytes }, unitBytes, participants)!
  }
  return { choice: { by: 'call' }, refusal: null, algorithm, segmentsFor }
}

function chosenByMachine(call: PendingCall): Setting | undefined | Promise<Setting | undefined> {
  const { state, method, collective, order, reduction, isUnsized, unitBytes } = call
  // A communicator of one process moves nothing, so there the rule decides.
  if (method?.isAuto !== true || state.processes.count === 1) return undefined
  const settingOf = (chosen: MachineChoice | null): Setting | undefined => {
    if (chosen === null) return undefined
    const { algorithm, segments, chosenFor } = chosen
    const choice: PlanChoice = { by: 'machine', why: chosenFor }
    return { choice, refusal: null, algorithm, segmentsFor: () => segments }
  }
  const chosen = state.plans.byMachine.choiceFor({
    ...{ collective, order, kind: participantsFor({ collective }, order) as WholeKind },
    sizeBytes: isUnsized !== true ? unitBytes : unitBytes === 0 ? 'lists' : 'long',
    canCut: reduction?.op.kind !== 'function',
  })
  return whenThere(chosen, settingOf)
}

function drawnOnline(call: PendingCall): Setting | undefined {
  const { state, collective, drawn } = call
  return drawn === leftToDefault ? undefined : settingIn(call, state.online!.leafOf(collective, drawn))
}

function inTuningFile(call: PendingCall): Setting | undefined {
  const { state, collective, unitBytes, order, reduction } = call
  const { tuned } = state.plans
  if (tuned === undefined) return undefined
  const leaf =
    reduction === undefined
      ? tuned.leafOf(collective, unitBytes)
      : tuned.leafOf(collective, unitBytes, operationName(reduction.op), order)
  return leaf && settingIn(call, leaf)
}

function operationName(op: CombiningCall['op']): string {
  return op.kind === 'function' ? 'user-defined' : op.name
}

function settingIn({ method, unitBytes }: PendingCall, leaf: TunedLeaf): Setting {
  const choice: PlanChoice = { by: 'file', leaf }
  const { setting } = leaf
  if (setting.reason !== null) return { choice, refusal: setting.reason }
  const { algorithm } = setting
  const segmentsFor = (ranks: number) =>
    method?.segments ?? tunedSegments(setting, unitBytes, algorithm.parts?.({ ranks, segments: 1 }) ?? 1)
  return { choice, refusal: null, algorithm, segmentsFor }
}

/**
 * Resolves a call by the rule, or by the tree over ranks if the rule's algorithm cannot serve a reduction.
 *
 * @param tuned the setting that a tuning file or online tuning has for the call, and why it is not taken
 */
function byRule(call: PendingCall, tuned: Pick<PlanChoice, 'leaf' | 'refusal'>): Resolution | Unplanned {
  const { state, collective, method, reduction } = call
  const { id: preferred, why } = defaultChoice(factsOf(state, call))
  const choice: PlanChoice = { by: 'rule', why, ...tuned }
  if (preferred === null) return { algorithm: null, choice }
  const cut = { segmentsFor: () => method?.segments ?? 1 }
  let instead: string | undefined
  let refusal = ''
  for (const id of reduction === undefined ? [preferred] : [preferred, `${collective}-tree`]) {
    const algorithm = algorithmOf(id)
    const segments = avoidedByRule(call, algorithm) ?? segmentsOrRefusal(call, algorithm, cut)
    if (typeof segments === 'number')
      return { algorithm, segments, choice: instead === undefined ? choice : { ...choice, instead } }
    refusal = segments
    instead ??= `not ${id}: ${segments}`
  }
  // A reduce-scatter then reduces to the first rank, from which the blocks are scattered.
  if (collective === 'reduce-scatter') return { algorithm: null, choice }
  throw unserved(`${collective}-tree`, refusal)
}

/** The most pieces per process of an algorithm that no rank has chosen and in which all exchange messages with all. */
const mostPieces = 4

const tooManyRuns = 'the ranks of the communicator are spread over too many runs'
const unknownLocations = 'the locations of the ranks are not known'

/** Returns why an algorithm that no rank has chosen is not taken, although it might serve the call; otherwise null. */
function avoided({ state, collective, order }: PendingCall, algorithm: Algorithm): string | null {
  if (collective !== 'reduce-scatter')
    return state.wasDistributed && !isUnplaced(algorithm, order) ? unknownLocations : null
  return isPiecesFew(state, participantsFor(algorithm, order) as WholeKind) ? null : tooManyRuns
}

function avoidedByRule(call: PendingCall, algorithm: Algorithm): string | null {
  const reason = avoided(call, algorithm)
  if (reason !== null) return reason
  const { state, order, reduction } = call
  const kind = participantsFor(algorithm, order) as WholeKind
  if (algorithm.id === 'allreduce-segmented' && !isPiecesFew(state, kind)) return tooManyRuns
  if (algorithm.id !== 'allreduce-recursive-doubling') return null
  const { op } = reduction!
  if (op.kind === 'function') return `operation ${op.name} is a function, which both processes would run`
  // With more pieces, an exchange has more messages and combinations than the tree.
  const isPieceEach = state.plans.participants(kind)?.process.length === state.processes.count
  return isPieceEach ? null : 'a process would take part more than once'
}

/** Tells whether the pieces are few. With more of them, each process sends more than in the tree of processes. */
function isPiecesFew(state: CollectiveContext, kind: WholeKind): boolean {
  const participants = state.plans.participants(kind)
  return participants !== null && participants.process.length <= mostPieces * state.processes.count
}

/** Returns the number of segments with which an algorithm serves a call, or why it cannot. */
function segmentsOrRefusal(
  { state, order, reduction }: Pick<PendingCall, 'state' | 'order' | 'reduction'>,
  algorithm: Algorithm,
  { segmentsFor }: Pick<UsableSetting, 'segmentsFor'>,
): number | string {
  const { plans } = state
  const cutting = (parts: number) =>
    parts > 1 && reduction?.op.kind === 'function'
      ? `it cuts arrays into parts, and operation ${reduction.op.name} takes whole arrays`
      : null
  const kind = participantsFor(algorithm, order)
  if (kind === 'path') {
    const segments = segmentsFor(state.size)
    return cutting(segments) ?? segments
  }
  const refusal = placesRefusal(algorithm, state)
  if (refusal !== null) return refusal
  const participants = plans.participants(kind)
  if (participants === null) return tooManyRuns
  const segments = segmentsFor(participants.process.length)
  // No algorithm refuses a root.
  const shape = plans.shapeOf(algorithm, participants, 0, segments)
  const reason = algorithm.refuses?.(shape) ?? null
  if (reason !== null) return reason
  const isByRank = algorithm.collective === 'reduce-scatter'
  const cut = cutting(isByRank ? shape.ranks : (algorithm.parts?.(shape) ?? segments))
  if (cut !== null) return cut
  if (serves(algorithm, shape, order)) return segments
  return order === 'tree'
    ? "it associates differently from the tree, which changes the bits of the result: pass order: 'any'"
    : `it does not combine in rank order, and operation ${reduction!.op.name} does not commute`
}

/**
 * Refuses the algorithm that a call names if it moves data, before the ranks join, by what they all know of it.
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
  const { algorithm, segments = algorithm.sections ?? 1, segmentBytes } = method
  const found = segmentsOrRefusal({ state, order: 'any' }, algorithm, { segmentsFor: () => segments })
  if (typeof found === 'string') throw unserved(algorithm.id, found)
  if (isSized || segmentBytes === undefined) return
  const reason = 'the ranks do not know how long the blocks of others are: say segments instead of segment'
  throw unserved(algorithm.id, reason)
}

function unserved(id: string, reason: string): RankweaveError {
  return new RankweaveError('ERR_ALGORITHM', `${id}: ${reason}`)
}

function factsOf(
  { processes, runtime, plans }: CollectiveContext,
  { collective, sizeBytes }: CallToPlan,
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
