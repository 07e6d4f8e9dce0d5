import { RankweaveError } from '../../errors.js'
import {
  elementSizeBytes,
  kindOf,
  type TypedArray,
  typeCode,
  typeCodeOf,
} from '../../messages/datatype/elements.js'
import { misfit, payloadOf } from '../../messages/datatype/payload.js'
import { pack, StridedView } from '../../messages/datatype/strided-view.js'
import { wordsPerElement } from './memory-words.js'

/** The checked contribution of a rank to a neighborhood collective. */
export interface Contribution {
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
