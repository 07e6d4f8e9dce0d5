import type { Algorithm, CombinationOrder, Shape } from '../../collective/patterns/algorithm.js'
import { typeCode } from '../../messages/datatype/elements.js'
import type { ReadyOperation } from '../../messages/datatype/operation.js'

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

export function serves(algorithm: Algorithm, shape: Shape, required: CombinationOrder): boolean {
  const order = algorithm.order?.(shape) ?? 'any'
  return required === 'any' || order === 'tree' || order === required
}
