import { packBlocks, unpackBlocks } from '../../base/packing.js'
import { RankweaveError, reasonText } from '../../errors.js'
import {
  detachedError,
  elementSizeBytes,
  elementsIn,
  newArray,
  plainArray,
  type TypedArray,
  typeCode,
  typeCodeOf,
  typeName,
} from '../../messages/datatype/elements.js'
import type { Kernel, Operation, ReadyOperation } from '../../messages/datatype/operation.js'
import { pack } from '../../messages/datatype/strided-view.js'
import { decodeValue } from '../../messages/datatype/value-reader.js'
import { encodeValue } from '../../messages/datatype/value-writer.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { copyOf } from '../exchange/exchange.js'
import type { ProgramStore } from '../program/run-program.js'

// The ranks of one process combine their values in memory: consecutive ranks in the order of the tree over ranks. Its
// node (l, i) covers the ranks `[i * 2^l, (i + 1) * 2^l)`. The value of a node is `left op right` of its two halves, or
// that of the left half if the right one is empty.

interface Operand<V> {
  readonly value: V
  readonly owned: boolean
}

/** The values of the ranks here, by local index; `owned` if they may be overwritten. */
export interface Leaves<V> {
  readonly values: readonly V[]
  readonly owned: boolean
}

/**
 * Returns the value of `ranks` leaves from `first` on, with O(lg ranks) live values: equal subtrees merge like the
 * digits of a binary counter.
 */
export function foldRanks<V>(
  combiner: Combiner<V>,
  leaves: Leaves<V>,
  first: number,
  ranks: number,
): Operand<V> {
  const { values } = leaves
  if (ranks === 1) return { value: values[first]!, owned: leaves.owned }
  const stack: V[] = []
  const owned: boolean[] = []
  const mergeTop = () => {
    const right = stack.pop() as V
    const rightOwned = owned.pop()!
    const top = stack.length - 1
    stack[top] = combiner.combine(stack[top]!, owned[top], right, rightOwned)
    owned[top] = true
  }
  for (let leaf = 0; leaf < ranks; leaf++) {
    stack.push(values[first + leaf]!)
    owned.push(leaves.owned)
    for (let full = leaf + 1; full % 2 === 0; full /= 2) mergeTop()
  }
  while (stack.length > 1) mergeTop()
  return { value: stack[0]!, owned: owned[0] }
}

/**
 * Returns the values of all nodes over `ranks` leaves from `first` on, by level from the leaves to the root. Nothing is
 * overwritten.
 */
export function nodeValues<V>(
  combiner: Combiner<V>,
  leaves: Leaves<V>,
  first: number,
  ranks: number,
): readonly (readonly V[])[] {
  const levels: V[][] = [leaves.values.slice(first, first + ranks)]
  for (let below = levels[0]; below.length > 1; below = levels[levels.length - 1]) {
    const level: V[] = []
    for (let i = 0; i < below.length; i += 2) {
      level.push(i + 1 < below.length ? combiner.combine(below[i]!, false, below[i + 1]!, false) : below[i]!)
    }
    levels.push(level)
  }
  return levels
}

export interface Before<V> {
  readonly value: V
  readonly owned: boolean
}

/**
 * Appends to `result` the combination of all that precedes each leaf; undefined for the first if nothing precedes it.
 * The first is owned if `before` is. The second is not owned if `before` is null, since it is the first leaf itself.
 * All others are owned: they replace the values of nodes.
 *
 * @param levels of {@link nodeValues}
 * @param before null for nothing
 */
export function appendPrefixes<V>(
  combiner: Combiner<V>,
  levels: readonly (readonly V[])[],
  before: Before<V> | null,
  result: (Before<V> | undefined)[],
): void {
  let prefixes: (V | undefined)[] = [before?.value]
  for (let level = levels.length - 2; level >= 0; level--) {
    const values = levels[level]
    const next = new Array<V | undefined>(values.length)
    for (let i = 0; i < values.length; i += 2) {
      const prefix = prefixes[i / 2]
      next[i] = prefix
      if (i + 1 === values.length) continue
      // The leftmost branch of the whole tree is the only one without a prefix.
      const isFirst = i === 0 && before === null
      next[i + 1] = isFirst ? values[i] : combiner.combine(prefix as V, false, values[i]!, level > 0)
    }
    prefixes = next
  }
  prefixes.forEach((value, leaf) => {
    const isShared = leaf === 0 ? before?.owned !== true : leaf === 1 && before === null
    result.push(value === undefined ? undefined : { value, owned: !isShared })
  })
}

/** The pairs of one level of the tree, and their results, with the number that has no partner. */
interface Level {
  readonly left: Float64Array
  readonly right: Float64Array
  readonly combined: Float64Array
  readonly next: Float64Array
}

/**
 * Combines a number of each rank in the order of the tree ({@link foldRanks}), a level at a time. It reuses its memory.
 */
export class NumberFold {
  readonly #kernel: Kernel
  readonly #levels: readonly Level[]

  constructor(kernel: Kernel, ranks: number) {
    this.#kernel = kernel
    const levels: Level[] = []
    for (let count = ranks; count > 1; count = (count + 1) >> 1) {
      const pairs = count >> 1
      const next = new Float64Array((count + 1) >> 1)
      const combined = next.subarray(0, pairs)
      levels.push({ left: new Float64Array(pairs), right: new Float64Array(pairs), combined, next })
    }
    this.#levels = levels
  }

  /** @param first of the numbers to combine */
  fold(numbers: Float64Array, first: number): number {
    let from = numbers
    let at = first
    for (const { left, right, combined, next } of this.#levels) {
      const pairs = left.length
      for (let i = 0; i < pairs; i++) {
        left[i] = from[at + 2 * i]
        right[i] = from[at + 2 * i + 1]
      }
      this.#kernel(combined, left, right)
      if (next.length > pairs) next[pairs] = from[at + 2 * pairs]
      from = next
      at = 0
    }
    return from[at]
  }
}

/**
 * Combines values of one kind in a reduction tree. An owned operand belongs to the tree, which may overwrite it or make
 * it part of the result. Results are owned.
 */
export interface Combiner<V> {
  combine(left: V, leftOwned: boolean, right: V, rightOwned: boolean): V
  /** The bytes of every value on the wire; null if they vary. */
  readonly sizeBytes: number | null
  /** Returns what ranks pass and get: elements unchanged, other values encoded. */
  toData(value: V): TypedArray
  /** Returns an owned value, which may be a view of `bytes`. */
  fromBytes(bytes: Uint8Array): V
}

/** @param type wire code of the elements, or of values */
export function combinerOf(op: ReadyOperation, type: number, countElems: number): Combiner<unknown> {
  if (type === typeCode.value) return new ValueCombiner(op as FunctionOperation) as Combiner<unknown>
  const combiner =
    op.kind === 'kernel'
      ? new KernelCombiner(type, countElems, op.kernel)
      : new FunctionCombiner(type, countElems, op)
  return combiner as Combiner<unknown>
}

type FunctionOperation = Extract<ReadyOperation, { kind: 'function' }>

abstract class ArrayCombiner implements Combiner<TypedArray> {
  readonly sizeBytes: number
  protected readonly type: number
  protected readonly countElems: number

  constructor(type: number, countElems: number) {
    this.type = type
    this.countElems = countElems
    this.sizeBytes = countElems * elementSizeBytes(type)
  }

  abstract combine(left: TypedArray, leftOwned: boolean, right: TypedArray, rightOwned: boolean): TypedArray

  /**
   * Refuses detached operands. They may be what ranks passed, and an array whose buffer has been transferred reads as
   * empty.
   */
  protected requireWhole(left: TypedArray, right: TypedArray): void {
    if (left.length !== this.countElems || right.length !== this.countElems) throw detachedError()
  }

  toData(value: TypedArray): TypedArray {
    return value
  }

  fromBytes(bytes: Uint8Array): TypedArray {
    return elementsIn(this.type, bytes)
  }
}

/** Combines by built-in operations: in place if an operand is owned. Freed arrays are reused. */
class KernelCombiner extends ArrayCombiner {
  readonly #kernel: Kernel
  readonly #spare: TypedArray[] = []

  constructor(type: number, countElems: number, kernel: Kernel) {
    super(type, countElems)
    this.#kernel = kernel
  }

  override combine(left: TypedArray, leftOwned: boolean, right: TypedArray, rightOwned: boolean): TypedArray {
    this.requireWhole(left, right)
    const kernel = this.#kernel
    if (leftOwned) {
      kernel(left, left, right)
      if (rightOwned) this.#spare.push(right)
      return left
    }
    const out = rightOwned ? right : (this.#spare.pop() ?? newArray(this.type, this.countElems))
    kernel(out, left, right)
    return out
  }
}

/** Combines typed arrays by user-defined operations, which may overwrite `left`. */
class FunctionCombiner extends ArrayCombiner {
  readonly #op: FunctionOperation

  constructor(type: number, countElems: number, op: FunctionOperation) {
    super(type, countElems)
    this.#op = op
  }

  override combine(left: TypedArray, leftOwned: boolean, right: TypedArray): TypedArray {
    this.requireWhole(left, right)
    const own = leftOwned ? left : pack(left)
    const combined = callUser(this.#op.combine, own, right, this.#op.name)
    const given = combined === undefined ? own : combined
    const { type, countElems } = this
    const result = typeCodeOf(given) === type ? plainArray(given as TypedArray) : given
    if (typeCodeOf(result) !== type || (result as TypedArray).length !== countElems) {
      const got = ArrayBuffer.isView(result)
        ? `${(result as TypedArray).length} elements of a ${typeName(typeCodeOf(result))}`
        : typeof result
      const expected = `${countElems} elements of a ${typeName(type)}`
      const message = `operation ${this.#op.name}: expected ${expected} as result, got ${got}`
      throw new RankweaveError('ERR_OP', message)
    }
    // An operation may return `right` itself, which may be a rank's own data.
    return given === right ? pack(right) : (result as TypedArray)
  }
}

/** Combines other values by user-defined operations. */
class ValueCombiner implements Combiner<unknown> {
  readonly sizeBytes = null
  readonly #op: FunctionOperation

  constructor(op: FunctionOperation) {
    this.#op = op
  }

  combine(left: unknown, leftOwned: boolean, right: unknown, rightOwned: boolean): unknown {
    const ownLeft = leftOwned ? left : this.#clone(left)
    const ownRight = rightOwned ? right : this.#clone(right)
    return callUser(this.#op.combine, ownLeft, ownRight, this.#op.name)
  }

  toData(value: unknown): TypedArray {
    return encodeValue(value)
  }

  fromBytes(bytes: Uint8Array): unknown {
    return decodeValue(bytes)
  }

  #clone(value: unknown): unknown {
    return decodeValue(encodeValue(value))
  }
}

function callUser(combine: Operation['combine'], left: unknown, right: unknown, name: string): unknown {
  try {
    return combine(left, right)
  } catch (cause) {
    throw new RankweaveError('ERR_OP', `operation ${name} failed: ${reasonText(cause)}`, { cause })
  }
}

/**
 * The values of a reduction whose lengths only its run shows: structured clones, for one run. A frame carries the
 * lengths of its values; arrived values are decoded when they are combined.
 */
export class ValueStore implements ProgramStore {
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
