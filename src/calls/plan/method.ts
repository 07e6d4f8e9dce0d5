import { requireKnownOptions } from '../../base/known-options.js'
import { integerOption, type OptionTable, textOption, wordOption } from '../../base/option.js'
import { requireOption } from '../../base/option-table.js'
import { algorithmOf } from '../../collective/algorithms.js'
import type { Algorithm } from '../../collective/patterns/algorithm.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'
import type { Collective } from '../../schedule/specification.js'

/** How a collective moves its data. All ranks pass the same. */
export interface MethodOptions {
  /** Id of the algorithm. Default: chosen by size and number of processes. */
  readonly algorithm?: string
  /**
   * Segments into which an algorithm cuts every unit of data, to send them one after the other. Default: by
   * size.
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
 * Refuses options that a call does not have: for inits, which are made a few times. JavaScript may pass null,
 * which collectives take as no options.
 *
 * @throws ERR_ARGUMENT
 */
export function requireInitOptions(name: string, options: unknown, known: object): void {
  requireKnownOptions(name, options ?? {}, known)
}

/** What the ranks of a call agree on besides its data; undefined fields are left to the rule. */
export interface Method {
  readonly algorithm: Algorithm | undefined
  readonly segments: number | undefined
  readonly isAnyOrder: boolean
  /** Names it: equal methods have equal names. */
  readonly name: string
}

/**
 * The method that a rank passes; undefined when it leaves all to the rule.
 *
 * @throws ERR_ARGUMENT for options that are malformed, and for an id that no algorithm of the collective has
 */
export function methodOf(collective: Collective, options: OrderOptions | undefined): Method | undefined {
  // JavaScript may pass null, which collectives take as no options.
  if (options === undefined || options === null) return undefined
  const { algorithm: id, segments, order } = options
  if (id === undefined && segments === undefined && order === undefined) return undefined
  requireOption(collective, 'order', orderOptionNames.order, order)
  requireOption(collective, 'segments', orderOptionNames.segments, segments)
  const algorithm = id === undefined ? undefined : algorithmOf(id, collective)
  const isAnyOrder = order === 'any'
  const name = [
    algorithm?.id ?? '',
    segments === undefined ? '' : `${segments} segments`,
    isAnyOrder ? 'order any' : '',
  ]
  const text = name.filter((part) => part !== '').join(', ')
  // `order: 'tree'` alone is the default.
  return text === '' ? undefined : { algorithm, segments, isAnyOrder, name: text }
}

/** Whether options that are well-formed give this method. */
export function isMethod(method: Method | undefined, options: OrderOptions | undefined): boolean {
  if (method === undefined && options === undefined) return true
  return (
    options?.algorithm === method?.algorithm?.id &&
    options?.segments === method?.segments &&
    (options?.order ?? 'tree') === (method?.isAnyOrder === true ? 'any' : 'tree')
  )
}
