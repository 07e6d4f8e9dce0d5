import { requireKnownOptions } from '../../base/known-options.js'
import { integerOption, type OptionTable, textOption, wordOption } from '../../base/option.js'
import { requireOption } from '../../base/option-table.js'
import { parseAlgorithm } from '../../collective/algorithm-text.js'
import type { Algorithm } from '../../collective/patterns/algorithm.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'
import { wrongValue } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import { methodName } from '../method-names.js'

/** How a collective moves its data. All ranks pass the same. */
export interface MethodOptions {
  /**
   * The algorithm as a line of text: its id, then its parameters and how it cuts the data, `bcast-chain`,
   * `bcast-chain:fanout=4,segment=64KiB`. `segment` is the most bytes that travel at a time of what MPI's count
   * describes, at most 4,096 times; it is for calls where all ranks, or the root of a bcast, know the lengths.
   * Default: chosen by size and number of processes.
   */
  readonly algorithm?: string
  /**
   * Segments into which an algorithm cuts every unit of data, to send them one after the other, unless its text
   * says it. Default: by size.
   */
  readonly segments?: number
}

/** How a reduction combines. All ranks pass the same. */
export interface OrderOptions extends MethodOptions {
  /**
   * `tree`: floating-point numbers are combined in the one order that every layout has, so the result has the
   * same bits everywhere. `any`: as the algorithm does; the bits may depend on layout and algorithm, and an
   * operation that commutes is applied in any order. Default `tree`.
   */
  readonly order?: 'tree' | 'any'
}

/** {@link MethodOptions} and {@link OrderOptions} by name. */
export const methodOptionNames = {
  algorithm: textOption(),
  segments: integerOption({ least: 1, most: shapeLimits.segments }),
} satisfies OptionTable<MethodOptions>
export const orderOptionNames = {
  ...methodOptionNames,
  order: wordOption(['tree', 'any'], { default: 'tree' }),
} satisfies OptionTable<OrderOptions>

/**
 * Refuses options that a call does not have, and what is not an object of options, null included.
 *
 * @throws ERR_ARGUMENT
 */
export function requireInitOptions(name: string, options: unknown, known: object): void {
  if (options !== undefined) requireKnownOptions(name, options, known)
}

/** What the ranks of a call agree on besides its data; undefined fields are left to the rule. */
export interface Method {
  readonly algorithm: Algorithm | undefined
  readonly segments: number | undefined
  /** Bytes of a segment; not given with `segments`. */
  readonly segmentBytes: number | undefined
  readonly isAnyOrder: boolean
  /** Names it: equal methods have equal names. */
  readonly name: string
  /** What was passed. */
  readonly given: { readonly algorithm: string | undefined; readonly segments: number | undefined }
}

/**
 * The method that a rank passes; undefined when it leaves all to the rule.
 *
 * @throws ERR_ARGUMENT for options that are malformed, a text that names no algorithm of the collective or has
 *   settings that this one does not take, and segments that both the text and the options give
 */
export function methodOf(collective: Collective, options: OrderOptions | undefined): Method | undefined {
  if (options === undefined) return undefined
  const { algorithm: text, segments: given, order } = options
  if (text === undefined && given === undefined && order === undefined) return undefined
  requireOption(collective, 'order', orderOptionNames.order, order)
  requireOption(collective, 'segments', orderOptionNames.segments, given)
  const setting = text === undefined ? undefined : parseAlgorithm(text, collective)
  const { algorithm, segments = given, segmentBytes } = setting ?? {}
  if (given !== undefined && (setting?.segments ?? segmentBytes) !== undefined) {
    const expected = `${collective}: expected segments in option algorithm or in option segments, not in both`
    throw wrongValue('ERR_ARGUMENT', expected, text)
  }
  const isAnyOrder = order === 'any'
  const name = methodName({ id: algorithm?.id, segments, segmentBytes, isAnyOrder })
  // `order: 'tree'` alone is the default.
  if (name === '') return undefined
  return { algorithm, segments, segmentBytes, isAnyOrder, name, given: { algorithm: text, segments: given } }
}

/** Whether options that are well-formed give this method. */
export function isMethod(method: Method | undefined, options: OrderOptions | undefined): boolean {
  if (method === undefined && options === undefined) return true
  return (
    options?.algorithm === method?.given.algorithm &&
    options?.segments === method?.given.segments &&
    (options?.order ?? 'tree') === (method?.isAnyOrder === true ? 'any' : 'tree')
  )
}
