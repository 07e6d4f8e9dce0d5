import { overlap } from '../../base/bytes.js'
import { whenThere } from '../../base/turn.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import {
  elementSizeBytes,
  elementsIn,
  newArray,
  scalarCode,
  type TypedArray,
  typeCode,
  typeCodeOf,
} from '../../messages/datatype/elements.js'
import {
  isOperationName,
  type Kernel,
  type Operation,
  type ReadyOperation,
  readyBigintOperation,
  readyNumberOperation,
  readyOperation,
} from '../../messages/datatype/operation.js'
import { payloadOf } from '../../messages/datatype/payload.js'
import type { ReceiveBuffer } from '../../messages/datatype/strided-view.js'
import { decodeValue } from '../../messages/datatype/value-reader.js'
import { encodeValue } from '../../messages/datatype/value-writer.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Collective } from '../../schedule/specification.js'
import type { Exchange } from '../exchange/exchange.js'
import { type CollectiveCall, failAllRanks } from '../matching/collective-call.js'
import type { CollectiveContext, CollectivePlan, Resolution, Unplanned } from '../plan/collective-plan.js'
import { isMethod, type Method, type OrderOptions, requiredOrder } from '../plan/method.js'
import { isUnplaced } from '../plan/participants.js'
import { type CallToPlan, type CombiningCall, planOf, planResolved, resolve } from '../plan/resolve.js'
import type { CollectiveName, Signature } from '../signature.js'
import { deliverData, intoOf, packedElements } from '../values/deliver.js'
import { ElementStore, type LengthOf } from '../values/element-store.js'
import { type Combiner, combinerOf, foldRanks, type Leaves, NumberFold, ValueStore } from '../values/fold.js'
import type { IntoOptions } from './options.js'

/**
 * The contribution of one rank: its elements, or the bytes of its value. Ranks without `into` pass the array itself.
 */
export interface ReduceContribution {
  readonly data: TypedArray
  readonly into: ReceiveBuffer | undefined
  /** The numbers of all ranks here if they join together with a number each; then this is the only contribution. */
  readonly numbers?: Float64Array
}

export type ReductionName = Extract<
  CollectiveName,
  'reduce' | 'allreduce' | 'reduceScatter' | 'scan' | 'exscan'
>

/** The facts on which all ranks of one reduction agree. */
export interface Reduction {
  readonly name: ReductionName
  readonly op: ReadyOperation
  readonly type: number
  /** The number of elements; 1 for a value. */
  readonly countElems: number
  /**
   * The kind of a single number that ranks pass: a number travels as one double, a bigint as a value; null for other
   * data.
   */
  readonly scalar: 'number' | 'bigint' | null
}

/**
 * Returns the reduction that a rank joins, and its contribution. Numbers and bigints with a user-defined operation are
 * values like any other, because that operation may take other values, too.
 *
 * @throws ERR_OP for an operation that the data does not have; ERR_TYPE, ERR_CLONE, ERR_COUNT for data or `into`
 */
export function reductionOf(
  name: ReductionName,
  data: unknown,
  op: unknown,
  options: IntoOptions | undefined,
): { readonly reduction: Reduction; readonly contribution: ReduceContribution } {
  const into = intoFor(data, options)
  if (isOperationName(op)) {
    if (typeof data === 'number') {
      const type = typeCode.Float64Array
      const reduction = { name, op: readyNumberOperation(op), type, countElems: 1, scalar: 'number' as const }
      return { reduction, contribution: { data: doubleOf(data), into } }
    }
    if (typeof data === 'bigint') {
      const type = typeCode.value
      const reduction = { name, op: readyBigintOperation(op), type, countElems: 1, scalar: 'bigint' as const }
      return { reduction, contribution: { data: encodeValue(data, name), into } }
    }
  }
  const { type, countElems, data: elements } = payloadOf(data, name)
  const reduction = { name, op: readyOperation(op, type, countElems, data), type, countElems, scalar: null }
  return { reduction, contribution: { data: packedElements(elements), into } }
}

/** @throws ERR_TYPE for an `into` that is not a buffer, or that a number or bigint cannot fill */
export function intoFor(data: unknown, options: IntoOptions | undefined): ReceiveBuffer | undefined {
  const into = intoOf(options)
  if (into !== undefined && (typeof data === 'number' || typeof data === 'bigint'))
    throw new RankweaveError('ERR_TYPE', `into takes the elements of arrays, the data is a ${typeof data}`)
  return into
}

function doubleOf(value: number): Float64Array {
  const double = new Float64Array(1)
  double[0] = value
  return double
}

/** Returns what ranks compare before they reduce. A number differs from an array of one element. */
export function signatureOf(
  { name, op, type, countElems, scalar }: Reduction,
  more: { root?: number; extra?: number; method?: string } = {},
): Signature {
  if (scalar !== null) return { name, op: op.name, type: scalarCode[scalar], ...more }
  return { name, op: op.name, type, ...(type === typeCode.value ? {} : { count: countElems }), ...more }
}

/** Returns one rank's result: elements in its own array or `into`, or the number or value that they stand for. */
export function deliverResult(
  state: CommContext,
  { type, scalar }: Reduction,
  data: TypedArray,
  into: ReceiveBuffer | undefined,
): unknown {
  return scalar === 'number' ? data[0] : deliverData(state, type, data, into)
}

/** The most runners for settings that online tuning draws, and the most bytes of data of calls that retain them. */
const mostDrawn = 32
const mostDrawnBytes = 2 ** 16

/**
 * A reduction that runs a plan. Ranks share the object, and so do consecutive calls. It retains its plan, and the
 * memory that a reduction of few elements needs.
 *
 * `P` is what runs the plan.
 */
export abstract class ReductionCall<P extends object> implements CollectiveCall<ReduceContribution, unknown> {
  readonly signature: Signature
  readonly unplaced: boolean
  protected readonly state: CollectiveContext
  protected readonly reduction: Reduction
  protected readonly method: Method | undefined
  readonly #call: CallToPlan & { readonly reduction: CombiningCall }
  /** The runner of the call unless online tuning draws a setting for it. */
  #usual: P | undefined
  /** The runners by resolution of the call. Resolutions with the same plan share a runner. */
  readonly #runners = new Map<object, { readonly plan: CollectivePlan | null; readonly runner: P }>()

  /**
   * @param collective what is planned
   * @param more what ranks compare besides the reduction
   * @param chosen the method of the plan, if it differs from the one that the ranks pass
   */
  constructor(
    state: CollectiveContext,
    collective: Collective,
    reduction: Reduction,
    method: Method | undefined,
    more: { readonly root?: number; readonly extra?: number } = {},
    chosen = method,
  ) {
    const { op, type, countElems } = reduction
    const order = requiredOrder(reduction, chosen?.isAnyOrder === true)
    this.signature = signatureOf(reduction, method === undefined ? more : { ...more, method: method.name })
    this.state = state
    this.reduction = reduction
    this.method = method
    this.#call = {
      ...{ collective, method: chosen, root: more.root ?? 0 },
      sizeBytes: countElems * elementSizeBytes(type),
      reduction: { op: { kind: op.kind, name: op.name }, order },
    }
    const named = chosen?.algorithm
    const isAnywhere = named === undefined ? chosen?.isAuto !== true : isUnplaced(named, order)
    this.unplaced = collective !== 'reduce-scatter' && isAnywhere
  }

  /**
   * Makes the plan of a call whose ranks have chosen the algorithm or the segments, if no look-up is needed.
   *
   * @throws ERR_ALGORITHM when it cannot serve
   */
  check(): this {
    const { algorithm, segments } = this.method ?? {}
    const isChosen = algorithm !== undefined || segments !== undefined
    if (isChosen && this.state.isPlaced) this.#runnerFor(resolve(this.state, this.#call))
    return this
  }

  isMethod(options: OrderOptions | undefined): boolean {
    return isMethod(this.method, options)
  }

  /** Tells whether a rank that passes these arguments makes the same call, as far as its data and operation allow. */
  isRepeatedBy(name: ReductionName, root: number | undefined, options: OrderOptions | undefined): boolean {
    return name === this.signature.name && root === this.signature.root && this.isMethod(options)
  }

  /**
   * Returns the elements of a rank's data if it can join with this call; otherwise undefined, as for values and strided
   * views.
   */
  elementsOf(data: unknown, op: unknown): TypedArray | undefined {
    const { op: own, type, countElems, scalar } = this.reduction
    const { name, combine } = Object(op) as Partial<Operation>
    const isSame = own.kind === 'kernel' ? own.name === op : own.combine === combine && own.name === name
    if (!isSame || type === typeCode.value) return undefined
    if (scalar !== null) return typeof data === 'number' ? doubleOf(data) : undefined
    const fits = typeCodeOf(data) === type && (data as TypedArray).length === countElems
    return fits ? (data as TypedArray) : undefined
  }

  run(
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
  ): readonly unknown[] | Promise<readonly unknown[] | undefined> | undefined {
    const usual = this.#usual
    if (usual === undefined || exchange.isWatched === true)
      return this.#resolveAndRun(contributions, exchange)
    this.runBy(usual, contributions, exchange)
    return undefined
  }

  #resolveAndRun(
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
  ): readonly unknown[] | Promise<readonly unknown[] | undefined> | undefined {
    try {
      const resolution = resolve(this.state, this.#call, exchange)
      const known = resolution instanceof Promise ? undefined : this.#runners.get(resolution)
      if (known === undefined) return this.#planAndRun(resolution, contributions, exchange)
      this.runBy(known.runner, contributions, exchange)
      return undefined
    } catch (error) {
      return refusedBy(error, contributions.length)
    }
  }

  // This is apart from what repeated calls run, which would otherwise allocate the variables that functions capture.
  #planAndRun(
    resolution: Resolved,
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
  ): undefined | Promise<readonly unknown[] | undefined> {
    const go = (runner: P): undefined => {
      this.runBy(runner, contributions, exchange)
    }
    const runner = this.#runnerFor(resolution, exchange)
    if (!(runner instanceof Promise)) return go(runner)
    return runner.then(go, (error) => refusedBy(error, contributions.length))
  }

  /** Returns what runs the plan of a resolved call. */
  #runnerFor(resolved: Resolved, exchange?: Exchange): P | Promise<P> {
    const runner = whenThere(
      resolved,
      (resolution) => this.#runners.get(resolution)?.runner ?? this.#newRunner(resolution),
    )
    if (exchange?.isWatched === true) return runner
    return whenThere(runner, (usual) => {
      this.#usual = usual
      return usual
    })
  }

  #newRunner(resolution: Resolution | Unplanned): P | Promise<P> {
    return whenThere(planResolved(this.state, this.#call, resolution), (plan) => {
      const known = [...this.#runners.values()].find((each) => each.plan === plan)
      return whenThere(known?.runner ?? this.prepare(plan), (runner) => {
        if (this.#runners.size < mostDrawn && this.#call.sizeBytes <= mostDrawnBytes)
          this.#runners.set(resolution, { plan, runner })
        return runner
      })
    })
  }

  /** Runs the plan once and completes the collective. */
  protected abstract runBy(runner: P, contributions: readonly ReduceContribution[], exchange: Exchange): void

  /**
   * Returns what runs a plan.
   *
   * @param plan null if neither the rule's algorithm nor the tree serves
   */
  protected abstract prepare(plan: CollectivePlan | null): P | Promise<P>

  /** Returns the plan of a reduction of the same data by another collective, to rank 0. */
  protected plan(collective: Collective, method: Method | undefined) {
    return planOf(this.state, { ...this.#call, collective, method, root: 0 })
  }
}

type Resolved = ReturnType<typeof resolve>

/** Fails the ranks of a call that no algorithm serves, on every process alike. Other errors fail the communicator. */
function refusedBy(error: unknown, ranks: number): readonly unknown[] {
  if (isRankweaveError(error, 'ERR_ALGORITHM')) return failAllRanks(ranks, error)
  throw error
}

/** The most bytes of a store, with its contributions and results, that is retained for the next run. */
const retainedBytes = 4096

/** The outcome of a run, valid until the next run. */
export interface Reduced {
  /** The elements of all slots, or the encoded value of the first one. */
  readonly data: TypedArray
  /** Returns the slot of the i-th participant here: its elements, or its value. */
  slot(i: number): unknown
}

/**
 * Runs the plan of a reduction. The contributions of every participant's ranks are combined in memory, then those of
 * the participants. Reductions of few elements reuse their memory.
 */
export class ReductionRun {
  readonly plan: CollectivePlan
  readonly combiner: Combiner<unknown>
  readonly #reduction: Reduction
  readonly #lengthOf: LengthOf
  /** Whether a unit is few elements, whose memory is retained. */
  readonly isSmall: boolean
  #spare: Bound | undefined
  /** The folds by participant here. */
  #folds: readonly NumberFold[] | undefined

  /** @param lengthOf elements of every block or part; default: those of a unit cut into the parts of the plan */
  constructor(
    plan: CollectivePlan,
    reduction: Reduction,
    lengthOf: LengthOf = partLengths(reduction.countElems, plan.parts),
  ) {
    const { op, type, countElems } = reduction
    this.plan = plan
    this.#reduction = reduction
    this.#lengthOf = lengthOf
    this.combiner = combinerOf(op, type, countElems)
    this.isSmall = this.combiner.sizeBytes !== null && this.combiner.sizeBytes <= retainedBytes
  }

  /** Combines the contributions of the ranks of each participant here. */
  folded(leaves: Leaves<unknown>): Leaves<unknown> {
    const { ownFirst } = this.plan.participants
    // Each participant has one rank.
    if (leaves.values.length === ownFirst.length - 1) return leaves
    const values: unknown[] = new Array(ownFirst.length - 1)
    for (let i = 0; i < values.length; i++) {
      values[i] = foldRanks(this.combiner, leaves, ownFirst[i], ownFirst[i + 1] - ownFirst[i]).value
    }
    return { values, owned: leaves.owned }
  }

  /** Combines one double of every rank here in the same way, for built-in operations. */
  foldedNumbers(numbers: Float64Array): Leaves<unknown> {
    const { ownFirst } = this.plan.participants
    const { op } = this.#reduction
    this.#folds ??= Array.from(
      this.plan.participants.own,
      (_, i) =>
        new NumberFold(
          (op as Extract<ReadyOperation, { kind: 'kernel' }>).kernel,
          ownFirst[i + 1] - ownFirst[i],
        ),
    )
    return {
      values: this.#folds.map((fold, i) => Float64Array.of(fold.fold(numbers, ownFirst[i]))),
      owned: true,
    }
  }

  /**
   * @param own what each participant here contributes
   * @param roomFor returns memory for the slots of a reduction of many elements; called once
   */
  run(
    own: Leaves<unknown>,
    exchange: Exchange,
    roomFor: (sizeBytes: number) => Uint8Array,
    done: (reduced: Reduced) => void,
  ): void {
    if (this.#reduction.type === typeCode.value) this.#runValues(own, exchange, done)
    else if (this.isSmall) this.#runSmall(own.values as readonly TypedArray[], exchange, done)
    else this.#runLarge(own.values as readonly TypedArray[], exchange, roomFor, done)
  }

  #runValues(own: Leaves<unknown>, exchange: Exchange, done: (reduced: Reduced) => void): void {
    const { program } = this.plan
    const store = new ValueStore(program, this.combiner, own)
    this.plan.run(exchange, store, () => {
      const slots = new Int32Array(own.values.length).fill(-1)
      for (let value = 0; value + 1 < program.fillStart.length; value++) {
        for (let f = program.fillStart[value]; f < program.fillStart[value + 1]; f++) {
          slots[program.fillRank[f]] = value
        }
      }
      const first = slots.find((value) => value >= 0)
      done({
        data: first === undefined ? noValue : store.bytesOf(first),
        slot: (i) => store.valueOf(slots[i]),
      })
    })
  }

  #runSmall(own: readonly TypedArray[], exchange: Exchange, done: (reduced: Reduced) => void): void {
    const bound = this.#spare ?? this.#newBound()
    this.#spare = undefined
    const { store } = bound
    for (let i = 0; i < own.length; i++) (bound.own[i] as Float64Array).set(own[i] as Float64Array)
    store.bind(bound.own, bound.data)
    this.plan.run(exchange, store, () => {
      store.finish()
      if (exchange.isSent) this.#spare = bound
      done(bound)
    })
  }

  #runLarge(
    own: readonly TypedArray[],
    exchange: Exchange,
    roomFor: (sizeBytes: number) => Uint8Array,
    done: (reduced: Reduced) => void,
  ): void {
    const { type, countElems } = this.#reduction
    const store = this.newStore(false)
    const slots = elementsIn(type, roomFor(store.slotElems * elementSizeBytes(type)))
    let used = store
    const arrays = own.map((array) => {
      if (!overlap(array, slots)) return array
      if (!this.#isInPlace(array, slots)) return array.slice()
      used = this.newStore(true)
      return array
    })
    const { scratch } = this.plan
    const memory = scratch.take(used.scratchBytes)
    used.bind(arrays, slots, memory)
    this.plan.run(exchange, used, () => {
      used.finish()
      exchange.whenSent(() => scratch.give(memory))
      done(new Bound(this.plan, countElems, used, own, slots))
    })
  }

  /** Tells whether the result may replace the contribution, which begins at the same place. */
  #isInPlace(contribution: TypedArray, slots: TypedArray): boolean {
    return (
      contribution.byteOffset === slots.byteOffset &&
      contribution.length === slots.length &&
      this.plan.memory(true).isSafeInPlace
    )
  }

  #newBound(): Bound {
    const { type, countElems } = this.#reduction
    const store = this.newStore(false)
    const own = Array.from(this.plan.participants.own, () => newArray(type, countElems))
    return new Bound(this.plan, countElems, store, own, newArray(type, store.slotElems))
  }

  newStore(isInPlace: boolean): ElementStore {
    const { program } = this.plan
    const { type, op } = this.#reduction
    const kernel = op.kind === 'kernel' ? op.kernel : this.#userKernel()
    const memory = this.plan.memory(isInPlace)
    return new ElementStore(program, memory, type, this.#lengthOf, kernel, op.kind === 'kernel')
  }

  /**
   * Returns a kernel of a user-defined operation, which may overwrite its left operand and return another array than
   * those it gets.
   */
  #userKernel(): Kernel {
    const combiner = this.combiner as Combiner<TypedArray>
    return (out, left, right) => {
      const isInPlace = out.buffer === left.buffer && out.byteOffset === left.byteOffset
      const result = combiner.combine(left, isInPlace, right, false)
      if (result !== out) (out as Float64Array).set(result as Float64Array)
    }
  }
}

class Bound implements Reduced {
  readonly store: ElementStore
  readonly own: readonly TypedArray[]
  readonly data: TypedArray
  readonly #plan: CollectivePlan
  readonly #countElems: number

  constructor(
    plan: CollectivePlan,
    countElems: number,
    store: ElementStore,
    own: readonly TypedArray[],
    data: TypedArray,
  ) {
    this.#plan = plan
    this.#countElems = countElems
    this.store = store
    this.own = own
    this.data = data
  }

  slot(i: number): TypedArray {
    const at = (this.#plan.memory().slotStart[i] / this.#plan.parts) * this.#countElems
    return this.data.subarray(at, at + this.#countElems)
  }
}

/**
 * Returns the leaves of a reduction. Values are decoded here, so operations may modify them; elements remain the ranks'
 * own.
 */
export function leavesOf(type: number, contributions: readonly ReduceContribution[]): Leaves<unknown> {
  if (type !== typeCode.value) return { values: contributions.map(({ data }) => data), owned: false }
  return { values: contributions.map(({ data }) => decodeValue(data as Uint8Array)), owned: true }
}

const noValue = new Uint8Array(0)

/** Returns the start of a part if a unit of elements is cut into `parts`, between two pairs. */
export function pairCut(countElems: number, parts: number, part: number): number {
  return part === parts ? countElems : 2 * Math.floor((part * Math.floor(countElems / 2)) / parts)
}

/** Returns the lengths if a unit of `countElems` elements is cut into `parts`, between two pairs of elements. */
function partLengths(countElems: number, parts: number): LengthOf {
  return (term) => {
    const part = term < 0 ? ~term : term % parts
    return pairCut(countElems, parts, part + 1) - pairCut(countElems, parts, part)
  }
}
