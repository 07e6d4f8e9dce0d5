import { integerOption, type OptionTable, textOption, wordOption } from '../../base/option.js'
import { requireOption } from '../../base/option-table.js'
import { parseAlgorithm } from '../../collective/algorithm-text.js'
import type { Algorithm, CombinationOrder } from '../../collective/patterns/algorithm.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'
import { wrongValue } from '../../errors.js'
import { typeCode } from '../../messages/datatype/elements.js'
import type { ReadyOperation } from '../../messages/datatype/operation.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Collective } from '../../schedule/specification.js'
import { methodName } from '../signature.js'
import { requireChoices } from './participants.js'

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

/** Tells whether calls with these methods are resolved alike, apart from the order of combination. */
export function isSameMethod(a: Method | undefined, b: Method | undefined): boolean {
  return (
    a === b ||
    (a?.algorithm === b?.algorithm &&
      a?.segments === b?.segments &&
      a?.segmentBytes === b?.segmentBytes &&
      a?.isAuto === b?.isAuto)
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
