import { bytesOf, copyBytes, extentOf, typedArrayName } from '../../base/bytes.js'
import { unwrittenBuffer } from '../../base/node-process.js'
import { RankweaveError, shown, withArticle } from '../../errors.js'

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array

/**
 * The wire codes of what a message carries; `value` is a structured clone. They are part of every frame: never
 * renumber.
 */
export const typeCode = {
  value: 0,
  Int8Array: 1,
  Uint8Array: 2,
  Uint8ClampedArray: 3,
  Int16Array: 4,
  Uint16Array: 5,
  Int32Array: 6,
  Uint32Array: 7,
  Float32Array: 8,
  Float64Array: 9,
  BigInt64Array: 10,
  BigUint64Array: 11,
} as const

/** The codes that ranks compare instead if they reduce a single number or bigint; never the type of a payload. */
export const scalarCode = { number: 12, bigint: 13 } as const

const typeNames: readonly string[] = [...Object.keys(typeCode), ...Object.keys(scalarCode)]

/** The constructor of every element type, by wire code from 1 on. */
export const typedArrays = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
] as const

const constructors = [Uint8Array, ...typedArrays] as const

const codeOfTag: Readonly<Record<string, number>> = typeCode

/** Returns the wire code of an element type; 0 for anything that is not a typed array (and so travels as a value). */
export function typeCodeOf(data: unknown): number {
  const tag = typedArrayName(data)
  return tag === undefined ? typeCode.value : (codeOfTag[tag] ?? unknownElementType(tag))
}

export type TypedArrayConstructor = (typeof constructors)[number]

/** @throws ERR_TYPE unless it is the constructor of an array that can be sent */
export function typeCodeOfConstructor(wanted: unknown): number {
  const type = constructors.lastIndexOf(wanted as TypedArrayConstructor)
  if (type >= 0) return type
  const message = `expected a number of bytes or the constructor of a typed array, got ${typeof wanted === 'function' ? wanted.name : shown(wanted)}`
  throw new RankweaveError('ERR_TYPE', message)
}

/** Returns the name of a wire code, for messages: `Float64Array`, or `value`. */
export function typeName(type: number): string {
  return typeNames[type] ?? `type ${type}`
}

/** Returns the bytes of one element; 1 for values, which travel as bytes. */
export function elementSizeBytes(type: number): number {
  return constructors[type].BYTES_PER_ELEMENT
}

/** The largest array that can be viewed as bytes on all versions of Node. */
const maxArrayBytes = 2 ** 32

/**
 * @param countElems of a value, which travels as bytes, bytes
 * @param memory what to lay it over; undefined: new memory
 * @throws ERR_COUNT for more than memory holds
 */
export function newArray(
  type: number,
  countElems: number,
  memory?: (sizeBytes: number) => ArrayBufferLike | undefined,
): TypedArray {
  const TypedArrayOf = constructors[type]
  const sizeBytes = countElems * TypedArrayOf.BYTES_PER_ELEMENT
  if (sizeBytes <= maxArrayBytes) {
    try {
      const buffer = memory?.(sizeBytes)
      return buffer === undefined ? new TypedArrayOf(countElems) : new TypedArrayOf(buffer as ArrayBuffer)
    } catch (cause) {
      throw noRoom(type, countElems, cause)
    }
  }
  throw noRoom(type, countElems)
}

/** The least bytes for which zeroing takes longer than a call of Node's allocator. */
const leastUnwrittenBytes = 4096

/**
 * Makes an array for received data. All of its bytes are written before a program sees it, so they are not zeroed
 * first.
 *
 * @throws ERR_COUNT for more than memory holds
 */
export function newReceivedArray(type: number, countElems: number): TypedArray {
  const isLong = countElems * elementSizeBytes(type) >= leastUnwrittenBytes
  return newArray(type, countElems, isLong ? unwrittenBuffer : undefined)
}

function noRoom(type: number, countElems: number, cause?: unknown): RankweaveError {
  const unit = type === typeCode.value ? 'bytes' : 'elements'
  const message = `no memory holds ${countElems} ${unit} of ${withArticle(typeName(type))}`
  return new RankweaveError('ERR_COUNT', message, { cause })
}

/** The most bytes of an array that V8 makes without a buffer; it makes the buffer when it is requested. */
const bufferlessBytes = 64
const fewBytes = new Uint8Array(bufferlessBytes)
/** The views of `fewBytes`, by type and number of elements. */
const fewElements: readonly (TypedArray | undefined)[][] = constructors.map(() => [])

/**
 * Makes a new array with a copy of the elements at `at` in `bytes`. Filling a small array through its buffer takes four
 * times as long as copying another array.
 *
 * @throws ERR_COUNT for more than memory holds
 */
export function newArrayOf(type: number, bytes: Uint8Array, at: number, sizeBytes: number): TypedArray {
  const TypedArrayOf = constructors[type]
  const countElems = sizeBytes / TypedArrayOf.BYTES_PER_ELEMENT
  if (sizeBytes > bufferlessBytes) {
    const array = newReceivedArray(type, countElems)
    copyBytes(bytesOf(array), 0, bytes.subarray(at, at + sizeBytes))
    return array
  }
  for (let i = 0; i < sizeBytes; i++) fewBytes[i] = bytes[at + i]
  const views = fewElements[type]
  views[countElems] ??= new TypedArrayOf(fewBytes.buffer as ArrayBuffer, 0, countElems)
  return new TypedArrayOf(views[countElems] as never)
}

/** Returns elements of some type in `bytes`: a view if their alignment allows it, otherwise a copy. */
export function elementsIn(type: number, bytes: Uint8Array): TypedArray {
  const sizeBytes = elementSizeBytes(type)
  const aligned = bytes.byteOffset % sizeBytes === 0 ? bytes : bytes.slice()
  return new constructors[type](
    aligned.buffer as ArrayBuffer,
    aligned.byteOffset,
    aligned.byteLength / sizeBytes,
  )
}

function unknownElementType(tag: string): never {
  throw new RankweaveError('ERR_TYPE', `arrays of this type cannot be sent: ${tag}`)
}

/**
 * Refuses arrays whose elements may move while a message is in flight; only buffers of fixed length guarantee that they
 * stay.
 *
 * @throws ERR_TYPE for a resizable or detached buffer, and for an array that states another memory than it has
 */
export function requireFixed(array: TypedArray): void {
  if (!isUnmasked(array)) requireTrue(array)
  const buffer = array.buffer as ArrayBufferLike & {
    readonly resizable?: boolean
    readonly growable?: boolean
  }
  if (buffer.resizable === true || buffer.growable === true) {
    const message = 'expected an array over a buffer of fixed length, got a resizable one'
    throw new RankweaveError('ERR_TYPE', message)
  }
  if (isDetached(array))
    throw new RankweaveError('ERR_TYPE', 'expected an array with its buffer, got a detached one')
}

const prototypeOfName = new Map<string | undefined, object>(
  typedArrays.map(({ name, prototype }) => [name, prototype]),
)
const { hasOwnProperty: hasOwn } = Object.prototype

/** Tells whether the properties that describe an array's memory are the built-in ones. */
function isUnmasked(array: TypedArray): boolean {
  return (
    prototypeOfName.get(typedArrayName(array)) === Object.getPrototypeOf(array) &&
    !hasOwn.call(array, 'length') &&
    !hasOwn.call(array, 'buffer') &&
    !hasOwn.call(array, 'byteOffset') &&
    !hasOwn.call(array, 'byteLength') &&
    !hasOwn.call(array, 'BYTES_PER_ELEMENT')
  )
}

function requireTrue(array: TypedArray): void {
  const type = typeCodeOf(array)
  // A DataView is not a list of elements; its callers state what they expect.
  if (type === typeCode.value) return
  const { byteLength } = extentOf(array)
  const message = `expected an array whose length and offset are those of its ${byteLength} bytes, got one that states others`
  let isTrue: boolean
  try {
    isTrue = statesItsMemory(type, array)
  } catch (cause) {
    throw new RankweaveError('ERR_TYPE', message, { cause })
  }
  if (!isTrue) throw new RankweaveError('ERR_TYPE', message)
}

function statesItsMemory(type: number, array: TypedArray): boolean {
  const { buffer, byteOffset, byteLength, length } = extentOf(array)
  return (
    array.buffer === buffer &&
    array.byteOffset === byteOffset &&
    array.byteLength === byteLength &&
    array.length === length &&
    array.BYTES_PER_ELEMENT === elementSizeBytes(type)
  )
}

/**
 * Returns the array without its class, not copied. Otherwise methods that a subclass overrides would run, and fail,
 * while a frame arrives.
 */
export function plainArray(array: TypedArray): TypedArray {
  const TypedArrayOf = constructors[typeCodeOf(array)]
  if (Object.getPrototypeOf(array) === TypedArrayOf.prototype) return array
  const { buffer, byteOffset, length } = extentOf(array)
  return new TypedArrayOf(buffer, byteOffset, length)
}

export function isDetached({ length, buffer }: TypedArray): boolean {
  if (length > 0 || buffer.byteLength > 0) return false
  // Versions of Node before 22 do not have it.
  const { detached } = buffer as ArrayBufferLike & { readonly detached?: boolean }
  if (detached !== undefined) return detached
  try {
    new Uint8Array(buffer)
    return false
  } catch {
    return true
  }
}

/**
 * Checks memory of a rank before it is read or written after its call has returned. The program may have transferred
 * the buffer meanwhile, and such an array reads as empty.
 *
 * @throws ERR_FABRIC with `details.detached`, which calls report as ERR_TYPE
 */
export function requireIntact(array: TypedArray): void {
  if (array.length === 0 && isDetached(array)) throw detachedError()
}

export function detachedError(): RankweaveError {
  return new RankweaveError('ERR_FABRIC', 'a buffer was detached during its transfer', {
    details: { detached: true },
  })
}

/** Names the kind of a value, for messages about types. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value !== 'object') return typeof value
  return value.constructor?.name ?? 'object'
}

interface Arrays {
  Int8Array: Int8Array
  Uint8Array: Uint8Array
  Uint8ClampedArray: Uint8ClampedArray
  Int16Array: Int16Array
  Uint16Array: Uint16Array
  Int32Array: Int32Array
  Uint32Array: Uint32Array
  Float32Array: Float32Array
  Float64Array: Float64Array
  BigInt64Array: BigInt64Array
  BigUint64Array: BigUint64Array
}

interface FreshArrays {
  Int8Array: Int8Array<ArrayBuffer>
  Uint8Array: Uint8Array<ArrayBuffer>
  Uint8ClampedArray: Uint8ClampedArray<ArrayBuffer>
  Int16Array: Int16Array<ArrayBuffer>
  Uint16Array: Uint16Array<ArrayBuffer>
  Int32Array: Int32Array<ArrayBuffer>
  Uint32Array: Uint32Array<ArrayBuffer>
  Float32Array: Float32Array<ArrayBuffer>
  Float64Array: Float64Array<ArrayBuffer>
  BigInt64Array: BigInt64Array<ArrayBuffer>
  BigUint64Array: BigUint64Array<ArrayBuffer>
}

/** An array with the element type of `T`, over any memory: it fits `into`, and operations get it. */
export type SameElements<T extends TypedArray> = Arrays[T[typeof Symbol.toStringTag]]

/**
 * The array that a call allocates for elements of `T`: a Buffer comes back as Uint8Array, shared memory as ordinary
 * memory.
 */
export type FreshArray<T extends TypedArray> = FreshArrays[T[typeof Symbol.toStringTag]]
