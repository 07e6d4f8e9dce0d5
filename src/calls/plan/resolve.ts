import { integerOption, type OptionTable, textOption, wordOption } from '../../base/option.js'
import { requireOption } from '../../base/option-table.js'
import { whenThere } from '../../base/turn.js'
import { parseAlgorithm, segmentsOf } from '../../collective/algorithm-text.js'
import { algorithmOf } from '../../collective/algorithms.js'
import type { Algorithm, CombinationOrder } from '../../collective/patterns/algorithm.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { typeCode } from '../../messages/datatype/elements.js'
import type { ReadyOperation } from '../../messages/datatype/operation.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Collective } from '../../schedule/specification.js'
import { leftToDefault } from '../../tuning/online/grid-selection.js'
import type { Exchange } from '../exchange/exchange.js'
import { methodName } from '../signature.js'
import type { CollectiveContext, PlanChoice, Resolution, Unplanned } from './collective-plan.js'
import { type CallFacts, defaultChoice, defaultSegments } from './default-rule.js'
import type { MachineChoice } from './machine-choices.js'
import {
  isUnplaced,
  participantsFor,
  placesRefusal,
  requireChoices,
  serves,
  type WholeKind,
} from './participants.js'
import { leftToRule, type TunedLeaf, tunedSegments } from './tuned-calls.js'

/** The options that determine how a collective moves its data. All ranks pass the same. */
export interface MethodOptions {
  /**
   * The algorithm as a line of text: its id, then its parameters and how it cuts the data, `bcast-chain`,
   * `bcast-chain:fanout=4,segment=64KiB`. `segment` limits the bytes that travel at a time of what MPI's count
   * describes, with at most 4,096 segments. It is for calls where all ranks, or the root of a bcast, know the lengths.
   * `auto` selects the algorithm, parameters and segments that take the least time on the machine of the world, as the
   * simulator predicts it. Every process chooses for itself, once for each class of lengths. Default: chosen by size
   * and number of processes.
   */
  readonly algorithm?: string
  /**
   * The number of segments into which an algorithm cuts every unit of data, to send them one after the other, unless
   * its text gives it. Default: by size.
   */
  readonly segments?: number
}

/** The options that determine how a reduction combines. All ranks pass the same. */
export interface OrderOptions extends MethodOptions {
  /**
   * The order of combination. `tree`: floating-point numbers are combined in the one order that every layout has, so
   * the result has the same bits everywhere. `any`: in the algorithm's order; the bits may depend on layout and
   * algorithm, and an operation that commutes is applied in any order. Default `tree`.
   */
  readonly order?: 'tree' | 'any'
}

/** The names of {@link MethodOptions} and {@link OrderOptions}. */
export const methodOptionNames = {
  algorithm: textOption(),
  segments: integerOption({ least: 1, most: shapeLimits.segments }),
} satisfies OptionTable<MethodOptions>
export const orderOptionNames = {
  ...methodOptionNames,
  order: wordOption(['tree', 'any'], { default: 'tree' }),
} satisfies OptionTable<OrderOptions>

/** The text that lets the machine of a world choose the algorithm. */
const autoAlgorithm = 'auto'

/** The facts on which the ranks of a call agree besides its data; undefined fields are left to the rule. */
export interface Method {
  readonly algorithm: Algorithm | undefined
  /** Whether the machine of the world chooses; then no algorithm is named. */
  readonly isAuto?: true
  readonly segments: number | undefined
  /** The bytes of a segment; not given with `segments`. */
  readonly segmentBytes: number | undefined
  readonly isAnyOrder: boolean
  /** The name of the method; equal methods have equal names. */
  readonly name: string
  /** The options as they were passed. */
  readonly given: { readonly algorithm: string | undefined; readonly segments: number | undefined }
}

/**
 * Returns the method that a rank passes; undefined when it leaves all to the rule.
 *
 * @param context the communicator of the call; without it no machine chooses anything
 * @throws ERR_ARGUMENT for options that are malformed, a text that names no algorithm of the collective or has settings
 *   that this one does not take, and segments that both the text and the options give
 * @throws ERR_MACHINE, ERR_ALGORITHM for `auto` where {@link requireChoices} does
 */
export function methodOf(
  collective: Collective,
  options: OrderOptions | undefined,
  context?: CommContext,
): Method | undefined {
  if (options === undefined) return undefined
  const { algorithm: text, segments: given, order } = options
  if (text === undefined && given === undefined && order === undefined) return undefined
  requireOption(collective, 'order', orderOptionNames.order, order)
  requireOption(collective, 'segments', orderOptionNames.segments, given)
  const isAnyOrder = order === 'any'
  if (text === autoAlgorithm && context !== undefined) {
    if (given !== undefined)
      throw wrongValue('ERR_ARGUMENT', `${collective}: expected no segments with algorithm auto`, given)
    requireChoices(collective, context)
    const name = methodName({ id: autoAlgorithm, isAnyOrder })
    const choice = {
      algorithm: undefined,
      segments: undefined,
      segmentBytes: undefined,
      isAuto: true,
    } as const
    return { ...choice, isAnyOrder, name, given: { algorithm: text, segments: undefined } }
  }
  const setting = text === undefined ? undefined : parseAlgorithm(text, collective)
  const { algorithm, segments = given, segmentBytes } = setting ?? {}
  if (given !== undefined && (setting?.segments ?? segmentBytes) !== undefined) {
    const expected = `${collective}: expected segments in option algorithm or in option segments, not in both`
    throw wrongValue('ERR_ARGUMENT', expected, text)
  }
  const name = methodName({ id: algorithm?.id, segments, segmentBytes, isAnyOrder })
  // `order: 'tree'` alone is the default.
  if (name === '') return undefined
  return { algorithm, segments, segmentBytes, isAnyOrder, name, given: { algorithm: text, segments: given } }
}

/** Tells whether options that are well-formed give this method. */
export function isMethod(method: Method | undefined, options: OrderOptions | undefined): boolean {
  if (method === undefined && options === undefined) return true
  return (
    options?.algorithm === method?.given.algorithm &&
    options?.segments === method?.given.segments &&
    (options?.order ?? 'tree') === (method?.isAnyOrder === true ? 'any' : 'tree')
  )
}

/** The operation of a reduction and its data; `type` is the wire code of the elements. */
interface Operands {
  readonly op: ReadyOperation
  readonly type: number
  readonly scalar: 'number' | 'bigint' | null
}

/** The operations on floating-point numbers whose result has the same bits however they are combined. */
const exactOnFloats: ReadonlySet<string> = new Set(['min', 'max', 'land', 'lor', 'lxor'])

/**
 * Returns the order in which a reduction must be combined.
 *
 * | operation | order: 'tree' | order: 'any' |
 * |---|---|---|
 * | built-in, on integers and bigints; min, max and logical ones on all numbers | any | any |
 * | built-in, on floating-point numbers | tree | any |
 * | user-defined, on integers | ranks; any if it commutes | the same |
 * | user-defined, on other data | tree | ranks; any if it commutes |
 */
export function requiredOrder({ op, type, scalar }: Operands, isAnyOrder: boolean): CombinationOrder {
  const isFloat = type === typeCode.Float64Array || type === typeCode.Float32Array
  if (op.kind === 'kernel') return !isFloat || isAnyOrder || exactOnFloats.has(op.name) ? 'any' : 'tree'
  const isExact = scalar === 'bigint' || (!isFloat && type !== typeCode.value)
  if (!isAnyOrder && !isExact) return 'tree'
  return op.commutative ? 'any' : 'ranks'
}

/** A call whose algorithm is wanted, as far as all processes that resolve it know it. */
export interface CallToResolve {
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
  /** The operation of a reduction and the order in which it must be combined. */
  readonly reduction?: { readonly op: ReadyOperation; readonly order: CombinationOrder }
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

interface PendingCall extends CallToResolve {
  readonly state: CollectiveContext
  readonly facts: CallFacts
  /** The bytes of what MPI's count describes, by which methods and tuning files cut and decide. */
  readonly unitBytes: number
  readonly order: CombinationOrder
  /** The number of the setting that online tuning has drawn. */
  readonly drawn: number
}

/**
 * Finds the algorithm that carries out a call; without an algorithm, the collective sends its messages itself. The
 * answer is a promise only if the machine of the world has to choose. A communicator retains the last answer for each
 * collective and drawn setting.
 *
 * @param drawn the number of the setting that online tuning has drawn for the call
 * @throws ERR_ALGORITHM if the algorithm that the ranks or the machine have chosen cannot serve, or none can with the
 *   segments that the ranks pass
 */
export function resolve(
  state: CollectiveContext,
  call: CallToResolve,
  drawn = leftToDefault,
): Resolution | Unplanned | Promise<Resolution | Unplanned> {
  const last = lastOf(state, call.collective)
  const known = last[drawn]
  if (known !== undefined && isOf(known, call)) return known.resolution
  const facts = factsOf(state, call)
  const { collective, sizeBytes, reduction } = call
  const unitBytes = collective === 'reduce-scatter' ? Math.ceil(sizeBytes / state.size) : sizeBytes
  const resolution = resolveFrom(0, {
    ...call,
    ...{ state, facts, unitBytes, drawn, order: reduction?.order ?? 'any' },
  })
  if (!(resolution instanceof Promise)) last[drawn] = resolvedCall(call, resolution)
  return resolution
}

/** Resolves a call that moves data while it runs: like {@link resolve}, with the setting that is drawn for it. */
export function resolveMove(
  state: CollectiveContext,
  call: CallToResolve,
  exchange?: Exchange,
): Resolution | Unplanned | Promise<Resolution | Unplanned> {
  const { collective, method, sizeBytes } = call
  if (exchange?.isWatched !== true || method?.algorithm !== undefined || method?.isAuto === true)
    return resolve(state, call)
  const online = state.online!
  const drawn = online.draw(exchange, collective, sizeBytes)
  const resolution = resolve(state, call, drawn)
  if (isRefusal(resolution)) online.refused(exchange)
  return resolution
}

/** Resolves like {@link resolveMove}, for a collective for which the rule always has an algorithm. */
export function resolvePlanned(
  state: CollectiveContext,
  call: CallToResolve,
  exchange?: Exchange,
): Resolution | Promise<Resolution> {
  return resolveMove(state, call, exchange) as Resolution | Promise<Resolution>
}

/** Tells whether the setting that was drawn for a call cannot serve it, so that the rule has decided. */
export function isRefusal(resolution: object): boolean {
  const { choice } = resolution as Partial<Resolution>
  return choice?.refusal !== undefined && choice.refusal !== leftToRule
}

/** A resolution, with the facts by which another call is resolved alike. It retains no operation of a user. */
interface ResolvedCall extends Omit<CallToResolve, 'collective' | 'reduction'> {
  readonly order: CombinationOrder | undefined
  readonly op: Pick<ReadyOperation, 'kind' | 'name'> | undefined
  readonly resolution: Resolution | Unplanned
}

function resolvedCall(
  { method, sizeBytes, isUnsized, reduction }: CallToResolve,
  resolution: Resolution | Unplanned,
): ResolvedCall {
  return {
    ...{ method, sizeBytes, resolution, order: reduction?.order },
    ...(isUnsized === undefined ? {} : { isUnsized }),
    op: reduction && { kind: reduction.op.kind, name: reduction.op.name },
  }
}

/** The last resolutions of each communicator: by collective, and by number for each setting of online tuning. */
const lastResolved = new WeakMap<CollectiveContext, Map<Collective, (ResolvedCall | undefined)[]>>()

function lastOf(state: CollectiveContext, collective: Collective): (ResolvedCall | undefined)[] {
  let ofState = lastResolved.get(state)
  if (ofState === undefined) {
    ofState = new Map()
    lastResolved.set(state, ofState)
  }
  let last = ofState.get(collective)
  if (last === undefined) {
    last = []
    ofState.set(collective, last)
  }
  return last
}

function isOf(known: ResolvedCall, { method, sizeBytes, isUnsized, reduction }: CallToResolve): boolean {
  return (
    known.sizeBytes === sizeBytes &&
    known.isUnsized === isUnsized &&
    isSameMethod(known.method, method) &&
    known.order === reduction?.order &&
    known.op?.kind === reduction?.op.kind &&
    known.op?.name === reduction?.op.name
  )
}

function isSameMethod(a: Method | undefined, b: Method | undefined): boolean {
  return (
    a === b ||
    (a?.algorithm === b?.algorithm &&
      a?.segments === b?.segments &&
      a?.segmentBytes === b?.segmentBytes &&
      a?.isAuto === b?.isAuto)
  )
}

function resolveFrom(
  first: number,
  call: PendingCall,
): Resolution | Unplanned | Promise<Resolution | Unplanned> {
  for (let i = first; i < sources.length; i++) {
    const { settingOf, isBinding } = sources[i]
    const setting = settingOf(call)
    if (setting instanceof Promise)
      return setting.then((found) =>
        found === undefined ? resolveFrom(i + 1, call) : taken(call, found, isBinding),
      )
    if (setting !== undefined) return taken(call, setting, isBinding)
  }
  return byRule(call, {})
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

function namedByCall({ method, facts, unitBytes }: PendingCall): Setting | undefined {
  if (method?.algorithm === undefined) return undefined
  const { algorithm, segments, segmentBytes } = method
  const segmentsFor = (participants: number): number => {
    if (segments !== undefined) return segments
    if (segmentBytes === undefined) return defaultSegments(algorithm, unitBytes)
    return segmentsOf({ algorithm, segmentBytes }, unitBytes, participants)!
  }
  return { choice: { by: 'call', facts }, refusal: null, algorithm, segmentsFor }
}

function chosenByMachine(call: PendingCall): Setting | undefined | Promise<Setting | undefined> {
  const { state, method, collective, order, reduction, isUnsized, unitBytes, facts } = call
  // A communicator of one process moves nothing, so there the rule decides.
  if (method?.isAuto !== true || state.processes.count === 1) return undefined
  const settingOf = (chosen: MachineChoice | null): Setting | undefined => {
    if (chosen === null) return undefined
    const { algorithm, segments, chosenFor } = chosen
    const choice: PlanChoice = { by: 'machine', facts, chosenFor }
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

function operationName(op: ReadyOperation): string {
  return op.kind === 'function' ? 'user-defined' : op.name
}

function settingIn({ method, facts, unitBytes }: PendingCall, leaf: TunedLeaf): Setting {
  const choice: PlanChoice = { by: 'file', facts, leaf }
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
  const { collective, facts, method, reduction } = call
  const choice: PlanChoice = { by: 'rule', facts, ...tuned }
  const preferred = defaultChoice(facts)
  if (preferred === null) return { algorithm: null, choice }
  const cut = { segmentsFor: () => method?.segments ?? preferred.segments }
  let instead: string | undefined
  let refusal = ''
  for (const id of reduction === undefined ? [preferred.id] : [preferred.id, `${collective}-tree`]) {
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
  { collective, sizeBytes }: CallToResolve,
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
