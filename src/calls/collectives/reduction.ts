import { overlap } from '../../base/bytes.js'
import { packBlocks, unpackBlocks } from '../../base/packing.js'
import { RankweaveError } from '../../errors.js'
import {
  elementSizeBytes,
  elementsIn,
  newArray,
  scalarCode,
  type TypedArray,
  typeCode,
} from '../../messages/datatype/elements.js'
import {
  isOperationName,
  type Kernel,
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
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { copyOf, type Exchange } from '../exchange/exchange.js'
import type { CollectivePlan } from '../plan/collective-plan.js'
import type { ProgramStore } from '../program/run-program.js'
import type { CollectiveName, Signature } from '../signature.js'
import { deliverData, intoOf, packedElements } from '../values/deliver.js'
import { ElementStore, type LengthOf } from '../values/element-store.js'
import { type Combiner, combinerOf, foldRanks, type Leaves, NumberFold } from '../values/fold.js'
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

export function doubleOf(value: number): Float64Array {
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

/**
 * The values of a reduction whose lengths only its run shows: structured clones, for one run. A frame carries the
 * lengths of its values; arrived values are decoded when they are combined.
 */
class ValueStore implements ProgramStore {
  readonly #program: ProcessProgram
  readonly #combiner: Combiner<unknown>
  readonly #values: unknown[]
  /** The encoded values: those that arrived, and those that have been sent. */
  readonly #bytes: (Uint8Array | undefined)[]
  /** The number of uses of each value. A value that is used once may be overwritten. */
  readonly #uses: Int32Array

  /** @param own what each participant here contributes */
  constructor(program: ProcessProgram, combiner: Combiner<unknown>, own: Leaves<unknown>) {
    const { valueTerm, send, combine, fillStart } = program
    const count = valueTerm.length
    this.#program = program
    this.#combiner = combiner
    this.#values = new Array(count)
    own.values.forEach((value, i) => {
      this.#values[program.ownStart[i]] = value
    })
    this.#bytes = new Array(count)
    this.#uses = Int32Array.from(valueTerm, (_, value) => fillStart[value + 1] - fillStart[value])
    // An additional use protects the contributions of the ranks.
    if (!own.owned) this.#uses.fill(2, 0, own.values.length)
    for (const values of [send.value, combine.left, combine.right]) {
      for (const value of values) this.#uses[value]++
    }
  }

  pack(frame: number): Uint8Array {
    const { valueStart, value } = this.#program.send
    const blocks: Uint8Array[] = []
    for (let i = valueStart[frame]; i < valueStart[frame + 1]; i++) blocks.push(this.bytesOf(value[i]))
    return packBlocks(blocks)
  }

  landing(): undefined {
    return undefined
  }

  unpack(frame: number, bytes: Uint8Array, owned: boolean): void {
    const blocks = unpackBlocks(owned ? bytes : copyOf(bytes))
    const first = this.#program.receive.valueStart[frame]
    for (let i = 0; i < blocks.length; i++) this.#bytes[first + i] = blocks[i]
  }

  combine(combination: number): void {
    const { firstValue, left, right } = this.#program.combine
    const [l, r] = [left[combination], right[combination]]
    this.#values[firstValue + combination] = this.#combiner.combine(
      this.valueOf(l),
      this.#isOwned(l),
      this.valueOf(r),
      this.#isOwned(r),
    )
  }

  /** Returns a value; an arrived one is decoded anew for every use. */
  valueOf(value: number): unknown {
    const bytes = this.#bytes[value]
    return bytes === undefined ? this.#values[value] : this.#combiner.fromBytes(bytes)
  }

  bytesOf(value: number): Uint8Array {
    this.#bytes[value] ??= this.#combiner.toData(this.#values[value]) as Uint8Array
    return this.#bytes[value]
  }

  #isOwned(value: number): boolean {
    return this.#bytes[value] !== undefined || this.#uses[value] === 1
  }
}
