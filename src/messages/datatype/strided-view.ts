import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import {
  kindOf,
  newArray,
  plainArray,
  requireFixed,
  requireIntact,
  type TypedArray,
  typeCode,
  typeCodeOf,
} from './elements.js'

/** The places of the elements of a {@link StridedView} in its array, counted in elements. */
export interface StridedShape {
  /** The first element of the first block. Default 0. */
  readonly offset?: number
  /** The number of blocks. */
  readonly count: number
  /** The number of elements of a block. */
  readonly blockLength: number
  /** The distance from the start of one block to the start of the next; may be negative. */
  readonly stride: number
}

const knownOptions: OptionTable<StridedShape> = uncheckedOptions('offset', 'count', 'blockLength', 'stride')

/**
 * The elements of a typed array at a regular distance (MPI_Type_vector, MPI-4.1 §5.1.2). There are `count` blocks of
 * `blockLength` elements, the first at `offset`, each `stride` elements after the one before. Blocks may overlap in a
 * view that is sent, not in one that receives.
 */
export class StridedView<T extends TypedArray = TypedArray> {
  readonly array: T
  readonly offset: number
  readonly count: number
  readonly blockLength: number
  readonly stride: number
  /** The number of elements in the view: `count * blockLength`. */
  readonly length: number

  /**
   * @throws ERR_TYPE unless `array` is a typed array over a fixed-length buffer
   * @throws ERR_COUNT for a shape that is not integers, or reaches outside the array
   */
  constructor(array: T, shape: StridedShape) {
    if (typeCodeOf(array) === typeCode.value)
      throw new RankweaveError('ERR_TYPE', `a strided view needs a typed array, got ${kindOf(array)}`)
    requireFixed(array)
    requireKnownOptions('strided', shape, knownOptions)
    const { offset = 0, count, blockLength, stride } = shape
    requireCount('offset', offset, 0)
    requireCount('count', count, 0)
    requireCount('blockLength', blockLength, 0)
    requireCount('stride', stride, Number.MIN_SAFE_INTEGER)
    this.array = array
    this.offset = offset
    this.count = count
    this.blockLength = blockLength
    this.stride = stride
    this.length = count * blockLength
    if (this.length === 0) return
    const last = offset + (count - 1) * stride
    const low = Math.min(offset, last)
    const high = Math.max(offset, last) + blockLength
    if (low < 0 || high > array.length) {
      const message = `strided view reaches elements ${low} to ${high - 1} of an array of ${array.length}`
      throw new RankweaveError('ERR_COUNT', message)
    }
  }

  /** True when two blocks share elements. */
  get overlaps(): boolean {
    return this.count > 1 && this.blockLength > 0 && Math.abs(this.stride) < this.blockLength
  }
}

/** The buffer into which a receive may put elements: a typed array, or a strided view that scatters them. */
export type ReceiveBuffer = TypedArray | StridedView

/**
 * Returns a strided view of `array`, to send or to receive into; the array is not copied.
 *
 * @example column j of a row-major matrix:
 *   `strided(matrix, { offset: j, count: rows, blockLength: 1, stride: columns })`
 * @throws ERR_TYPE, ERR_COUNT as {@link StridedView}
 * @see MPI-4.1 §5.1.2
 */
export function strided<T extends TypedArray>(array: T, shape: StridedShape): StridedView<T> {
  return new StridedView(array, shape)
}

/** Returns the view as a plain typed array if its elements are contiguous, otherwise the view itself. */
export function contiguous(data: TypedArray | StridedView): TypedArray | StridedView {
  if (!(data instanceof StridedView)) return data
  const array = plainArray(data.array)
  if (data.length === 0) return array.subarray(0, 0)
  if (data.count > 1 && data.stride !== data.blockLength) return data
  return array.subarray(data.offset, data.offset + data.length)
}

/** Returns a new array of the elements, by one copy. */
export function pack(data: TypedArray | StridedView): TypedArray {
  if (!(data instanceof StridedView)) {
    const copy = newArray(typeCodeOf(data), data.length)
    assign(copy, data)
    return copy
  }
  const packed = newArray(typeCodeOf(data.array), data.length)
  moveBlocks(data, 0, data.length, packed, 'pack')
  return packed
}

/** Writes packed elements to the start of `into`, which has room for them and their type, by one copy. */
export function unpack(elements: TypedArray, into: ReceiveBuffer): void {
  const target = contiguous(into)
  if (target instanceof StridedView) moveBlocks(target, 0, elements.length, elements, 'unpack')
  else assign(target, elements)
}

/** Copies all elements of `from` to the start of `into`, which has room for them and their type. */
export function copyElements(from: TypedArray | StridedView, into: ReceiveBuffer): void {
  unpack(from instanceof StridedView ? pack(from) : from, into)
}

// All typed arrays move alike, but TypeScript sees number and bigint arrays as having nothing in common.
function assign(into: TypedArray, from: TypedArray): void {
  ;(plainArray(into) as Float64Array).set(from as Float64Array)
}

/** The number of elements below which a loop beats `set` of a `subarray`. */
const setElems = 32

function moveBlocks(
  view: StridedView,
  from: number,
  to: number,
  packed: TypedArray,
  direction: 'pack' | 'unpack',
): void {
  const { offset, stride, blockLength } = view
  if (to > from) requireIntact(view.array)
  const array = plainArray(view.array) as Float64Array
  const flat = packed as Float64Array
  for (let at = from, start = offset; at < to; at += blockLength, start += stride) {
    const elems = Math.min(blockLength, to - at)
    if (elems >= setElems) {
      if (direction === 'pack') flat.set(array.subarray(start, start + elems), at)
      else array.set(flat.subarray(at, at + elems), start)
    } else if (direction === 'pack') {
      for (let i = 0; i < elems; i++) flat[at + i] = array[start + i]
    } else {
      for (let i = 0; i < elems; i++) array[start + i] = flat[at + i]
    }
  }
}

function requireCount(name: string, value: unknown, least: number): void {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    const expected = least === 0 ? 'an integer >= 0' : 'an integer'
    throw wrongValue('ERR_COUNT', `${name} of a strided view must be ${expected}`, value)
  }
}
