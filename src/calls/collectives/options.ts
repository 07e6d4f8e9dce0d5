import { type WaitOptions, waitOptions } from '../../base/abort.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import type { SameElements, TypedArray } from '../../messages/datatype/elements.js'
import type { ElementOperation, Operation } from '../../messages/datatype/operation.js'
import type { StridedView } from '../../messages/datatype/strided-view.js'
import { type MethodOptions, methodOptionNames, type OrderOptions, orderOptionNames } from '../plan/method.js'

/** A typed array, or a strided view of one, whose elements a collective reads. */
export type Elements<T extends TypedArray> = T | StridedView<T>

/** An operation on arrays with the element type of `T`. */
export type ArrayOperation<T extends TypedArray> = ElementOperation<T> | Operation<SameElements<T>>

export interface IntoOptions<I extends TypedArray = TypedArray> extends WaitOptions {
  /** Filled with the result instead of a fresh array, and returned. */
  readonly into?: I
}

export const intoOptions: OptionTable<IntoOptions> = { ...waitOptions, ...uncheckedOptions('into') }

/** The options of collectives that combine nothing. */
export interface MovementOptions<I extends TypedArray = TypedArray> extends IntoOptions<I>, MethodOptions {}

/** The options of such collectives if the data are not an array. */
export interface ValueOptions extends WaitOptions, MethodOptions {}

/** The options of reductions. */
export interface ReductionOptions<I extends TypedArray = TypedArray> extends IntoOptions<I>, OrderOptions {}

/** The options of reductions if the data are not an array. */
export interface ScalarReductionOptions extends WaitOptions, OrderOptions {}

/** The places of blocks of varying lengths in a rank's result. A persistent request reads both once, at its init. */
export interface BlockPlaces extends MethodOptions {
  /** The number of elements of each rank's block, if known; checked against what arrives (ERR_COUNT). */
  readonly counts?: ArrayLike<number>
  /** The start of each rank's block in the result. Default: packed in rank order. */
  readonly displs?: ArrayLike<number>
}

export interface BlocksOptions<I extends TypedArray = TypedArray> extends MovementOptions<I>, BlockPlaces {}

const valueOptions: OptionTable<ValueOptions> = { ...waitOptions, ...methodOptionNames }
const movementOptions: OptionTable<MovementOptions> = { ...intoOptions, ...methodOptionNames }
const blocksOptions: OptionTable<BlocksOptions> = {
  ...movementOptions,
  ...uncheckedOptions('counts', 'displs'),
}
const reductionOptions: OptionTable<ReductionOptions> = { ...intoOptions, ...orderOptionNames }

/** The options of every call by name; others would have no effect. */
export const callOptions = {
  barrier: valueOptions,
  bcast: movementOptions,
  reduce: reductionOptions,
  allreduce: reductionOptions,
  gather: movementOptions,
  gatherv: blocksOptions,
  scatter: movementOptions,
  scatterv: { ...movementOptions, ...uncheckedOptions('displs') },
  allgather: movementOptions,
  allgatherv: blocksOptions,
  alltoall: movementOptions,
  alltoallv: { ...blocksOptions, ...uncheckedOptions('sendDispls') },
  reduceScatter: { ...reductionOptions, ...uncheckedOptions('counts') },
  scan: reductionOptions,
  exscan: reductionOptions,
} satisfies Readonly<Record<string, OptionTable<WaitOptions>>>
