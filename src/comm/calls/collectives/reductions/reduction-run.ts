import { overlap } from '../../../../base/bytes.js'
import { elementSizeBytes, elementsIn, newArray, type TypedArray } from '../../../datatype/elements.js'
import type { Kernel } from '../../../datatype/operation-kernels.js'
import type { Exchange } from '../../exchange.js'
import type { CollectivePlan } from '../plan/collective-plan.js'
import { ElementStore, type LengthOf } from '../plan/element-store.js'
import { type Combiner, combinerOf } from '../reduce/combiner.js'
import { foldPiece, type Leaves } from '../reduce/tree.js'
import type { ReduceContribution, Reduction } from './reduction.js'

/** A store of at most this many bytes, with its contributions and results, is retained for the next run. */
const retainedBytes = 4096

/**
 * Runs the plan of a reduction of elements: the contributions of every participant's ranks are combined in memory, then
 * the participants'. Reductions of few elements reuse their memory.
 */
export class ReductionRun {
  readonly #plan: CollectivePlan
  readonly #reduction: Reduction
  readonly #lengthOf: LengthOf
  readonly #isSmall: boolean
  readonly #combiner: Combiner<unknown>
  readonly #order: readonly Range[] | null
  #spare: Bound | undefined

  /** @param order of the elements of a contribution in the parts, if it is not that of its array */
  constructor(
    plan: CollectivePlan,
    reduction: Reduction,
    lengthOf: LengthOf,
    order: readonly Range[] | null = null,
  ) {
    const { op, type, countElems } = reduction
    this.#plan = plan
    this.#reduction = reduction
    this.#lengthOf = lengthOf
    this.#order = order
    this.#combiner = combinerOf(op, type, countElems)
    this.#isSmall = this.#combiner.sizeBytes! <= retainedBytes
  }

  /**
   * @param roomFor memory for the slots, of a reduction that does not reuse its own; asked once
   * @param done gets the slots; they may be overwritten by the next run
   */
  run(
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
    roomFor: (sizeBytes: number) => Uint8Array,
    done: (slots: TypedArray) => void,
  ): void {
    const leaves: Leaves<unknown> = { values: contributions.map(({ data }) => data), owned: false }
    if (this.#isSmall) this.#runSmall(leaves, exchange, done)
    else this.#runLarge(leaves, exchange, roomFor, done)
  }

  #runSmall(leaves: Leaves<unknown>, exchange: Exchange, done: (slots: TypedArray) => void): void {
    const bound = this.#spare ?? this.#newBound()
    this.#spare = undefined
    const { own, slots, store } = bound
    for (let i = 0; i < own.length; i++) (own[i] as Float64Array).set(this.folded(leaves, i) as Float64Array)
    store.bind(own, slots)
    this.#plan.run(exchange, store, () => {
      store.finish()
      if (exchange.isSent) this.#spare = bound
      done(slots)
    })
  }

  #runLarge(
    leaves: Leaves<unknown>,
    exchange: Exchange,
    roomFor: (sizeBytes: number) => Uint8Array,
    done: (slots: TypedArray) => void,
  ): void {
    const { type } = this.#reduction
    const store = this.newStore(false)
    const slots = elementsIn(type, roomFor(store.slotElems * elementSizeBytes(type)))
    let bound = store
    const arrays = Array.from(this.#plan.participants.own, (_, i) => {
      const folded = this.folded(leaves, i)
      if (!overlap(folded, slots)) return folded
      if (!this.#isInPlace(folded, slots)) return folded.slice()
      bound = this.newStore(true)
      return folded
    })
    bound.bind(arrays, slots)
    this.#plan.run(exchange, bound, () => {
      bound.finish()
      done(slots)
    })
  }

  /** Whether the result may replace the contribution, which begins where it does. */
  #isInPlace(contribution: TypedArray, slots: TypedArray): boolean {
    return (
      contribution.byteOffset === slots.byteOffset &&
      contribution.length === slots.length &&
      this.#plan.memory(true).isSafeInPlace
    )
  }

  /** What the i-th participant here contributes, in the order of the parts. */
  folded(leaves: Leaves<unknown>, i: number): TypedArray {
    const folded = this.#combined(leaves, i)
    if (this.#order === null) return folded
    const ordered = newArray(this.#reduction.type, folded.length)
    let at = 0
    for (const { start, end } of this.#order) {
      ;(ordered as Float64Array).set(folded.subarray(start, end) as Float64Array, at)
      at += end - start
    }
    return ordered
  }

  #combined(leaves: Leaves<unknown>, i: number): TypedArray {
    const { ownFirst } = this.#plan.participants
    const first = ownFirst[i]!
    const ranks = ownFirst[i + 1]! - first
    if (ranks === 1) return leaves.values[first] as TypedArray
    const piece = { pieceLocal: Int32Array.of(first), pieceRanks: Int32Array.of(ranks) }
    return foldPiece(piece, 0, this.#combiner, leaves).value as TypedArray
  }

  #newBound(): Bound {
    const { type, countElems } = this.#reduction
    const store = this.newStore(false)
    const own = Array.from(this.#plan.participants.own, () => newArray(type, countElems))
    return { store, own, slots: newArray(type, store.slotElems) }
  }

  newStore(isInPlace: boolean): ElementStore {
    const { program } = this.#plan
    const { type, op } = this.#reduction
    const kernel = op.kind === 'kernel' ? op.kernel : this.#userKernel()
    return new ElementStore(program, this.#plan.memory(isInPlace), type, this.#lengthOf, kernel)
  }

  /** A user-defined operation may return another array than those it gets. */
  #userKernel(): Kernel {
    const combiner = this.#combiner as Combiner<TypedArray>
    return (out, left, right) => {
      ;(out as Float64Array).set(combiner.combine(left, false, right, false) as Float64Array)
    }
  }
}

interface Bound {
  readonly store: ElementStore
  readonly own: readonly TypedArray[]
  readonly slots: TypedArray
}

/** A range of elements. */
interface Range {
  readonly start: number
  readonly end: number
}

/** Start of a part where a unit of elements is cut into `parts`, between two pairs. */
export function pairCut(countElems: number, parts: number, part: number): number {
  return part === parts ? countElems : 2 * Math.floor((part * Math.floor(countElems / 2)) / parts)
}

/** Lengths where a unit of `countElems` elements is cut into `parts`, between two pairs of elements. */
export function partLengths(countElems: number, parts: number): LengthOf {
  return (term) => {
    const part = term < 0 ? ~term : term % parts
    return pairCut(countElems, parts, part + 1) - pairCut(countElems, parts, part)
  }
}
