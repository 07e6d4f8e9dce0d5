import { bytesOf, extentOf } from '../../base/bytes.js'
import { RankweaveError, withArticle, wrongValue } from '../../errors.js'
import {
  elementSizeBytes,
  isDetached,
  kindOf,
  newArray,
  newReceivedArray,
  plainArray,
  requireFixed,
  requireIntact,
  type TypedArray,
  typeCode,
  typeCodeOf,
  typeName,
} from './elements.js'
import { contiguous, type ReceiveBuffer, StridedView, unpack } from './strided-view.js'
import { decodeValue } from './value-reader.js'
import { encodeValue } from './value-writer.js'

/** The largest payload of one message: sizes travel as unsigned 32-bit. */
export const maxPayloadSizeBytes = 0xffffffff

/** The content of one message, checked and ready to be sent. `data` is still the user's, unless it is a value. */
export interface Payload {
  readonly type: number
  readonly data: TypedArray | StridedView
  /** The number of elements; 1 for a value. */
  readonly countElems: number
  readonly sizeBytes: number
}

/**
 * @param call what the data was passed to, for messages
 * @throws ERR_TYPE for arrays over detached or resizable buffers, and of classes that state another length
 * @throws ERR_CLONE for a value that structured clone rejects
 * @throws ERR_COUNT for 4 GiB and more
 */
export function payloadOf(data: unknown, call?: string): Payload {
  const type = typeCodeOf(data)
  if (type !== typeCode.value) {
    requireFixed(data as TypedArray)
    const array = plainArray(data as TypedArray)
    return checkedSize(type, array, array.length, array.byteLength)
  }
  if (data instanceof StridedView) {
    requireFixed(data.array)
    const elements = contiguous(data)
    const elementType = typeCodeOf(data.array)
    return checkedSize(elementType, elements, data.length, data.length * elementSizeBytes(elementType))
  }
  const bytes = encodeValue(data, call)
  return checkedSize(typeCode.value, bytes, 1, bytes.byteLength)
}

function checkedSize(
  type: number,
  data: TypedArray | StridedView,
  countElems: number,
  sizeBytes: number,
): Payload {
  if (sizeBytes > maxPayloadSizeBytes) {
    const expected = `a message carries at most ${maxPayloadSizeBytes} bytes`
    throw wrongValue('ERR_COUNT', expected, sizeBytes, { sizeBytes })
  }
  return { type, data, countElems, sizeBytes }
}

/**
 * Checks a buffer that a receive is to fill.
 *
 * @throws ERR_TYPE unless it is a typed array or a strided view, over a buffer of fixed length
 * @throws ERR_COUNT when blocks of the view overlap
 */
export function requireReceiveBuffer(into: unknown): void {
  if (into instanceof StridedView) {
    requireFixed(into.array)
    if (into.overlaps) {
      throw new RankweaveError(
        'ERR_COUNT',
        `cannot receive into overlapping blocks: blockLength ${into.blockLength}, stride ${into.stride}`,
      )
    }
    return
  }
  if (typeCodeOf(into) === typeCode.value)
    throw new RankweaveError('ERR_TYPE', `into must be a typed array or a strided view, got ${kindOf(into)}`)
  requireFixed(into as TypedArray)
}

/** An error's words for a receive buffer, and those before the elements that arrive. */
interface MisfitWords {
  readonly buffer: string
  readonly carries: string
}

const ofMessage: MisfitWords = { buffer: 'into', carries: 'the message carries' }

/** The words of a call that fills the buffer that it was given. */
export const filledBy = (call: string): MisfitWords => ({
  buffer: `${call}: the receive buffer`,
  carries: 'the call receives',
})

/** Returns why a message does not fit a receive buffer; undefined when it does. */
export function misfit(
  type: number,
  countElems: number,
  into: ReceiveBuffer | undefined,
  { buffer, carries } = ofMessage,
): RankweaveError | undefined {
  if (into === undefined) return undefined
  const array = into instanceof StridedView ? into.array : into
  const expected = typeCodeOf(array)
  if (type !== expected) {
    const message = `${buffer} is ${withArticle(typeName(expected))}, ${carries} ${withArticle(typeName(type))}`
    return new RankweaveError('ERR_TYPE_MISMATCH', message, {
      details: { expected: typeName(expected), arrived: typeName(type) },
    })
  }
  if (array.length === 0 && isDetached(array))
    return new RankweaveError('ERR_TYPE', 'into was detached before its message had arrived')
  if (countElems > into.length) {
    const message = `${buffer} has room for ${into.length} ${into.length === 1 ? 'element' : 'elements'}, ${carries} ${countElems}`
    return new RankweaveError('ERR_TRUNCATE', message, {
      details: { expected: into.length, arrived: countElems },
    })
  }
  return undefined
}

/**
 * The destination of a message's bytes: they are written to `bytes`, and `finish` is called when all have arrived.
 * Contiguous targets are written in place; strided ones through a packed copy. `finish` throws ERR_FABRIC when the
 * buffer has been detached.
 */
export interface Landing {
  readonly bytes: Uint8Array
  finish(): unknown
}

/**
 * @param into fits the message ({@link misfit})
 * @throws ERR_COUNT for more than memory holds
 */
export function landing(type: number, countElems: number, sizeBytes: number, into?: ReceiveBuffer): Landing {
  if (type === typeCode.value) {
    const bytes = bytesOf(newReceivedArray(type, sizeBytes))
    return { bytes, finish: () => decodeValue(bytes) }
  }
  const target = into === undefined ? newReceivedArray(type, countElems) : contiguous(into)
  if (!(target instanceof StridedView)) {
    const { buffer, byteOffset } = extentOf(target)
    const bytes = new Uint8Array(buffer, byteOffset, sizeBytes)
    const finish = () => {
      requireIntact(target)
      return into ?? target
    }
    return { bytes, finish }
  }
  const packed = newArray(type, countElems)
  const finish = () => {
    unpack(packed, target)
    return into
  }
  return { bytes: bytesOf(packed), finish }
}

/**
 * The data that a message can carry: a typed array, a strided view of one (MPI_Type_vector), or any value that
 * structured clone takes. The elements of an array travel, not its buffer.
 */
export type Sendable = TypedArray | StridedView | SendableValue

/**
 * The values that travel as a structured clone: plain objects and arrays, maps, sets, dates, errors, numbers, strings
 * and so on. Functions, classes, symbols and promises do not compile; values deeper inside are checked when they are
 * sent (ERR_CLONE). A generic function takes `data: T & SendableValue`.
 */
export type SendableValue =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | (object & NotSent)
  // TypeScript needs this for object literals, whose properties it checks.
  | ({ readonly [property: string]: unknown } & NotSent)

interface NotSent {
  /** Functions and classes have it, data does not. */
  readonly [Symbol.hasInstance]?: never
  /** The mark of a promise, which lacks an `await`. */
  readonly then?: never
  /** Typed arrays travel by their elements. */
  readonly BYTES_PER_ELEMENT?: never
}
