import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import type { Layout } from '../../calls/values/deliver.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import {
  elementSizeBytes,
  elementsIn,
  kindOf,
  newArray,
  type TypedArray,
  typeCode,
  typeCodeOf,
} from '../../messages/datatype/elements.js'
import { misfit, payloadOf } from '../../messages/datatype/payload.js'
import { pack, StridedView } from '../../messages/datatype/strided-view.js'

/** The checked contribution of a rank to a neighborhood collective. */
interface Contribution {
  readonly type: number
  readonly elements: TypedArray
}

/** @throws ERR_TYPE unless the data are a typed array, or a strided view of one, with a fixed buffer */
export function contributionOf(name: string, data: unknown): Contribution {
  const isArray = data instanceof StridedView || typeCodeOf(data) !== typeCode.value
  if (!isArray) {
    throw new RankweaveError(
      'ERR_TYPE',
      `${name}: expected a typed array or a strided view of one, got ${kindOf(data)}`,
    )
  }
  const { type, data: elements } = payloadOf(data)
  return { type, elements: elements instanceof StridedView ? pack(elements) : elements }
}

/**
 * Checks a receive buffer for `countElems` elements of a type.
 *
 * @throws ERR_TYPE unless it is a typed array with a fixed buffer; ERR_TYPE_MISMATCH, ERR_TRUNCATE when the elements do
 *   not fit
 */
export function checkInto(name: string, into: unknown, type: number, countElems: number): void {
  if (into === undefined) return
  if (typeCodeOf(into) === typeCode.value) {
    const message = `${name}: expected a typed array to receive into, got ${kindOf(into)}`
    throw new RankweaveError('ERR_TYPE', message)
  }
  payloadOf(into)
  const error = misfit(type, countElems, into as TypedArray)
  if (error !== undefined) throw error
}

/** Returns the number of words, as stores count them, of one element of a type. */
export function elementWords(type: number): number {
  return wordsPerElement(elementSizeBytes(type))
}

/**
 * Checks the buffers that a rank binds to a persistent collective. It refuses strided views, which would be packed once
 * instead of at every start.
 *
 * @throws ERR_TYPE
 */
export function boundElements(
  name: string,
  send: unknown,
  recv: unknown,
): Contribution & { readonly into: TypedArray } {
  if (!ArrayBuffer.isView(send) || recv === undefined || recv === null)
    throw new RankweaveError('ERR_TYPE', `${name}: expected typed arrays to send from and to receive into`)
  return { ...contributionOf(name, send), into: recv as TypedArray }
}

/**
 * The memory of a typed array in units that are copied alike for all element types: 32-bit words, or bytes for elements
 * below 4 bytes. Two kinds of array instead of eleven keep the copy loops fast, and integers preserve every bit of a
 * NaN.
 */
export type Words = Int32Array | Uint8Array

export function wordViewOf(array: TypedArray): Words {
  return array.BYTES_PER_ELEMENT >= 4
    ? new Int32Array(array.buffer, array.byteOffset, array.byteLength >>> 2)
    : new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}

/** Returns the number of words of one element of this size. */
export function wordsPerElement(elementSizeBytes: number): number {
  return elementSizeBytes >= 4 ? elementSizeBytes >>> 2 : elementSizeBytes
}

/** Allocates memory in words, for elements of this size. */
export function newWords(elementSizeBytes: number, count: number): Words {
  return elementSizeBytes >= 4 ? new Int32Array(count) : new Uint8Array(count)
}

/** Copies of fewer words are faster by a loop than by `set` of a `subarray`. */
const setWords = 96

export function copyWords(from: Words, fromAt: number, to: Words, toAt: number, count: number): void {
  if (count >= setWords) to.set(from.subarray(fromAt, fromAt + count), toAt)
  else for (let i = 0; i < count; i++) to[toAt + i] = from[fromAt + i]
}

/** @throws ERR_COUNT for more words than a store holds */
export function checkTotal(words: number): void {
  if (words > 0x7fffffff) {
    const expected = 'the blocks of one process may have at most 2^31 - 1 words in one call'
    throw wrongValue('ERR_COUNT', expected, words)
  }
}

/** Receive buffers of at most this many words, on average, are filled side by side in one arena and then copied out. */
export const smallWords = 96

/** The receive buffers of the ranks of one process while their slots are filled. */
export interface ReceiveBuffers {
  /** The buffer of the i-th rank is in `words[i]`, from `base[i]` on. */
  readonly words: readonly Words[]
  readonly base: Int32Array
  /** Returns the filled buffers: fresh arrays, or those that the ranks passed. */
  results(): TypedArray[]
}

/**
 * Returns buffers of a type: those that the ranks pass, or fresh ones. A view of each costs more than copying a few
 * blocks twice, so small fresh ones become arrays only when they are filled.
 *
 * @param sizes the number of elements of every rank's buffer
 * @param intoOf returns the buffer that a rank passed to be filled
 */
export function receiveBuffers(
  type: number,
  sizes: ArrayLike<number>,
  intoOf: (index: number) => TypedArray | undefined,
): ReceiveBuffers {
  const count = sizes.length
  const perElement = wordsPerElement(elementSizeBytes(type))
  let total = 0
  for (let i = 0; i < count; i++) if (intoOf(i) === undefined) total += sizes[i]
  const base = new Int32Array(count)
  if (total * perElement > smallWords * count) {
    const arrays = Array.from({ length: count }, (_, i) => intoOf(i) ?? newArray(type, sizes[i]))
    return { words: arrays.map(wordViewOf), base, results: () => arrays }
  }
  const arena = newWords(elementSizeBytes(type), total * perElement)
  const words: Words[] = new Array(count)
  let next = 0
  for (let i = 0; i < count; i++) {
    const into = intoOf(i)
    if (into !== undefined) {
      words[i] = wordViewOf(into)
      continue
    }
    words[i] = arena
    base[i] = next
    next += sizes[i] * perElement
  }
  const results = (): TypedArray[] => {
    const elements = elementsOver(type, arena)
    return words.map((_, i) => {
      const first = base[i] / perElement
      return intoOf(i) ?? elements.slice(first, first + sizes[i])
    })
  }
  return { words, base, results }
}

/** Returns the memory of words as elements of a type that fill them. */
export function elementsOver(type: number, { buffer, byteOffset, byteLength }: Words): TypedArray {
  return elementsIn(type, new Uint8Array(buffer, byteOffset, byteLength))
}

/** The places of blocks in a receive buffer, in elements. */
export interface BlockLayout {
  readonly displs: Int32Array
  /** The number of elements that the buffer needs. */
  readonly size: number
}

/** The counts of blocks that the caller expects, and their places. */
export interface BlockLayoutOptions {
  readonly counts?: ArrayLike<number>
  readonly displs?: ArrayLike<number>
}

export const blockLayoutOptions: OptionTable<BlockLayoutOptions> = {
  ...uncheckedOptions('counts', 'displs'),
}

/**
 * Places blocks at the caller's displacements, or packs them in slot order.
 *
 * @param arrived the number of elements of every block
 * @throws ERR_COUNT when the caller expected other counts
 */
export function blockLayout(
  name: string,
  arrived: Int32Array,
  { counts, displs }: Pick<Layout, 'counts' | 'displs'>,
): BlockLayout {
  if (counts !== undefined) checkCounts(name, arrived, counts)
  const starts = displs ?? new Int32Array(arrived.length)
  let size = 0
  for (let slot = 0; slot < arrived.length; slot++) {
    if (displs === undefined) starts[slot] = size
    size = Math.max(size, starts[slot] + arrived[slot])
  }
  return { displs: starts, size }
}

function checkCounts(name: string, arrived: Int32Array, counts: Int32Array): void {
  for (let slot = 0; slot < arrived.length; slot++) {
    if (counts[slot] === arrived[slot]) continue
    const message = `${name}: expected ${counts[slot]} elements in block ${slot}, ${arrived[slot]} arrived`
    throw new RankweaveError('ERR_COUNT', message, {
      details: { slot, expected: counts[slot], arrived: arrived[slot] },
    })
  }
}
