import { requireKnownOptions } from '../../base/known-options.js'
import { integerOption, type OptionTable, textOption, wordOption } from '../../base/option.js'
import { requireOption } from '../../base/option-table.js'
import { parseAlgorithm } from '../../collective/algorithm-text.js'
import type { Algorithm } from '../../collective/patterns/algorithm.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'
import { wrongValue } from '../../errors.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Collective } from '../../schedule/specification.js'
import { methodName } from '../method-names.js'
import { requireChoices } from './participant-places.js'

/** How a collective moves its data. All ranks pass the same. */
export interface MethodOptions {
  /**
   * The algorithm as a line of text: its id, then its parameters and how it cuts the data, `bcast-chain`,
   * `bcast-chain:fanout=4,segment=64KiB`. `segment` is the most bytes that travel at a time of what MPI's count
   * describes, at most 4,096 times; it is for calls where all ranks, or the root of a bcast, know the lengths.
   * `auto`: what takes the least time on the machine of the world, as the simulator predicts it, with its parameters
   * and segments; chosen by every process for itself, once for each class of lengths.
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

/** What stands for the algorithm that the machine of a world chooses. */
export const autoAlgorithm = 'auto'

/** What the ranks of a call agree on besides its data; undefined fields are left to the rule. */
export interface Method {
  readonly algorithm: Algorithm | undefined
  /** Whether the machine of the world chooses: then no algorithm is named. */
  readonly isAuto?: true
  /** What the machine has chosen it for, in words. */
  readonly chosenFor?: string
  /** Where the machine has chosen: what is for long blocks whose lengths only some ranks know. */
  readonly long?: Method
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
 * @param context the communicator of the call; without it nothing is chosen by a machine
 * @throws ERR_ARGUMENT for options that are malformed, a text that names no algorithm of the collective or has
 *   settings that this one does not take, and segments that both the text and the options give
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

/** Whether options that are well-formed give this method. */
export function isMethod(method: Method | undefined, options: OrderOptions | undefined): boolean {
  if (method === undefined && options === undefined) return true
  return (
    options?.algorithm === method?.given.algorithm &&
    options?.segments === method?.given.segments &&
    (options?.order ?? 'tree') === (method?.isAnyOrder === true ? 'any' : 'tree')
  )
}
