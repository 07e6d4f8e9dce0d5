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
