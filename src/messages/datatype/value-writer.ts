import { copyBytes, extentOf, isSharedMemory } from '../../base/bytes.js'
import { RankweaveError, reasonText } from '../../errors.js'
import {
  deepestValue,
  errorKinds,
  type Packing,
  packingOf,
  shortText,
  valueTag,
  viewKinds,
  writeNumbers,
  writeUnits,
} from './value-format.js'

/**
 * Returns a copy of a value as bytes, the same bytes on Node and in browsers. The values that can be copied are in
 * docs/browser.md, "Values": those that the structured clone algorithm takes. Arrays in shared memory are copied, and a
 * SharedArrayBuffer is refused even where it could be shared, so that a program behaves alike on every layout.
 *
 * @param call what the value was passed to, for the message
 * @throws ERR_CLONE naming what cannot be cloned
 */
export function encodeValue(value: unknown, call?: string): Uint8Array {
  const writer = free ?? new ValueWriter()
  free = undefined
  try {
    return writer.encode(value)
  } catch (cause) {
    const message = `${call === undefined ? '' : `${call}: `}${reasonText(cause)}`
    // Frames of the writer would hide those of the program, so only an error of the program itself is a cause.
    throw new RankweaveError('ERR_CLONE', message, cause instanceof Refused ? {} : { cause })
  } finally {
    free = writer
  }
}

/** The bytes retained between values; a larger encoding gets separate memory. */
const keptBytes = 4096
/** The least length of an array that may be encoded by those of its elements that exist. */
const maybeSparse = 1 << 16
/** The least length of an array of numbers that travels without a tag for each of them. */
const leastPacked = 4

/** Encodes one value at a time, in the format of `value-format.ts`. Getters that it calls may not use it. */
class ValueWriter {
  readonly #kept = new Uint8Array(keptBytes)
  #bytes = this.#kept
  #view = new DataView(this.#kept.buffer)
  #at = 0
  #depth = 0
  /** The number of every object whose encoding has begun. The first has none while it is the only one. */
  #objects = 0
  #first: object | undefined
  #numbers: Map<object, number> | undefined
  #names: Map<string, number> | undefined

  /** @throws TypeError, RangeError or what a getter throws */
  encode(value: unknown): Uint8Array {
    try {
      this.#write(value)
      return this.#bytes === this.#kept ? this.#kept.slice(0, this.#at) : this.#bytes.subarray(0, this.#at)
    } finally {
      this.#reset()
    }
  }

  #reset(): void {
    this.#at = 0
    this.#depth = 0
    this.#objects = 0
    this.#first = undefined
    this.#numbers = undefined
    this.#names = undefined
    if (this.#bytes === this.#kept) return
    this.#bytes = this.#kept
    this.#view = new DataView(this.#kept.buffer)
  }

  /** Makes room for so many more bytes. */
  #reserve(size: number): void {
    const end = this.#at + size
    if (end <= this.#bytes.length) return
    const bytes = new Uint8Array(Math.max(end, 2 * this.#bytes.length))
    bytes.set(this.#bytes.subarray(0, this.#at))
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
  }

  #byte(value: number): void {
    if (this.#at === this.#bytes.length) this.#reserve(1)
    this.#bytes[this.#at++] = value
  }

  /** @param value an integer from 0 to 2^53 - 1 */
  #count(value: number): void {
    this.#reserve(8)
    const bytes = this.#bytes
    let at = this.#at
    let rest = value
    for (; rest > 0x7fffffff; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest % 0x80) | 0x80
    for (; rest > 0x7f; rest >>>= 7) bytes[at++] = rest | 0x80
    bytes[at++] = rest
    this.#at = at
  }

  #write(value: unknown): void {
    if (typeof value === 'number') this.#number(value)
    else if (typeof value === 'string') this.#text(value)
    else if (value === null) this.#byte(valueTag.null)
    else if (typeof value === 'object') this.#object(value)
    else if (value === undefined) this.#byte(valueTag.undefined)
    else if (typeof value === 'boolean') this.#byte(value ? valueTag.true : valueTag.false)
    else if (typeof value === 'bigint') this.#bigint(value)
    else throw notCloned(String(value))
  }

  #number(value: number): void {
    if (this.#at + 9 > this.#bytes.length) this.#reserve(9)
    if ((value | 0) === value && (value !== 0 || 1 / value > 0)) {
      this.#bytes[this.#at++] = valueTag.integer
      this.#count(((value << 1) ^ (value >> 31)) >>> 0)
    } else if (Number.isNaN(value)) this.#bytes[this.#at++] = valueTag.nan
    else {
      this.#bytes[this.#at++] = valueTag.double
      this.#view.setFloat64(this.#at, value, true)
      this.#at += 8
    }
  }

  #double(value: number): void {
    this.#reserve(8)
    this.#view.setFloat64(this.#at, value, true)
    this.#at += 8
  }

  #bigint(value: bigint): void {
    if (BigInt.asIntN(64, value) === value) {
      this.#byte(valueTag.bigint)
      this.#reserve(8)
      this.#view.setBigInt64(this.#at, value, true)
      this.#at += 8
      return
    }
    this.#byte(valueTag.longBigint)
    this.#byte(value < 0n ? 1 : 0)
    this.#text((value < 0n ? -value : value).toString(16))
  }

  #text(text: string): void {
    this.#reserve(16 + text.length)
    const { length } = text
    if (length <= shortText) {
      const begin = this.#at
      const bytes = this.#bytes
      bytes[begin] = valueTag.text
      bytes[begin + 1] = length
      let i = 0
      for (; i < length; i++) {
        const unit = text.charCodeAt(i)
        if (unit > 0x7f) break
        bytes[begin + 2 + i] = unit
      }
      if (i === length) {
        this.#at = begin + 2 + length
        return
      }
    }
    const begin = this.#at
    this.#byte(valueTag.text)
    this.#count(length)
    this.#reserve(length)
    const { read, written } = encoder.encodeInto(text, this.#bytes.subarray(this.#at, this.#at + length))
    this.#at += length
    if (read === written && written === length) return
    this.#at = begin
    this.#units(text)
  }

  #units(text: string): void {
    this.#byte(valueTag.units)
    this.#count(text.length)
    this.#reserve(2 * text.length)
    writeUnits(this.#view, this.#at, text)
    this.#at += 2 * text.length
  }

  #object(value: object): void {
    const number = this.#numberOf(value)
    if (number !== undefined) {
      // An array may have brought its shared buffer, as a copy.
      if (isSharedMemory(value)) throw notShared()
      this.#seen(number)
      return
    }
    if (++this.#depth > deepestValue) throw new Refused(`it is more than ${deepestValue} objects deep`)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (Array.isArray(value)) this.#array(value)
    else if (prototype === Object.prototype || prototype === null) this.#properties(value)
    else if (ArrayBuffer.isView(value)) this.#arrayView(value)
    else this.#branded(value)
    this.#depth--
  }

  #seen(number: number): void {
    this.#byte(valueTag.seen)
    this.#count(number)
  }

  /** Returns the number of an object that came before; otherwise numbers it and returns undefined. */
  #numberOf(value: object): number | undefined {
    if (this.#objects === 0) {
      this.#objects = 1
      this.#first = value
      return undefined
    }
    if (value === this.#first) return 0
    this.#numbers ??= new Map()
    const number = this.#numbers.get(value)
    if (number === undefined) this.#numbers.set(value, this.#objects++)
    return number
  }

  #properties(value: object): void {
    const names = Object.keys(value)
    this.#byte(valueTag.object)
    this.#count(names.length)
    for (const name of names) {
      this.#name(name)
      this.#write((value as Record<string, unknown>)[name])
    }
  }

  #name(name: string): void {
    this.#names ??= new Map()
    const number = this.#names.get(name)
    if (number !== undefined) {
      this.#seen(number)
      return
    }
    this.#names.set(name, this.#names.size)
    this.#text(name)
  }

  #array(values: readonly unknown[]): void {
    const { length } = values
    if (length >= maybeSparse && hasHoles(values)) {
      this.#sparse(values)
      return
    }
    const packing = length < leastPacked ? undefined : packingOf(values)
    if (packing !== undefined) {
      this.#packed(values as readonly number[], packing)
      return
    }
    this.#byte(valueTag.array)
    this.#count(length)
    for (let i = 0; i < length; i++) {
      const value = values[i]
      if (value === undefined && !(i in values)) this.#byte(valueTag.hole)
      else this.#write(value)
    }
  }

  #packed(values: readonly number[], packing: Packing): void {
    const size = values.length * (packing === 'integers' ? 4 : 8)
    this.#byte(valueTag[packing])
    this.#count(values.length)
    this.#reserve(size)
    writeNumbers(this.#view, this.#at, values, packing)
    this.#at += size
  }

  #sparse(values: readonly unknown[]): void {
    const indices = Object.keys(values).filter((name) => isIndex(name, values.length))
    this.#byte(valueTag.sparse)
    this.#count(values.length)
    this.#count(indices.length)
    for (const index of indices) {
      this.#count(Number(index))
      this.#write(values[Number(index)])
    }
  }

  #arrayView(view: ArrayBufferView): void {
    const kind = viewNames.indexOf(brandOf(view))
    if (kind < 0) throw notCloned(brandOf(view))
    this.#byte(valueTag.view)
    this.#byte(kind)
    const { buffer, byteOffset, length } = extentOf(view)
    this.#count(byteOffset)
    this.#count(length)
    const number = this.#numberOf(buffer)
    if (number === undefined) this.#buffer(buffer)
    else this.#seen(number)
  }

  /** Encodes an object whose state is not in its properties, or of a class. */
  #branded(value: object): void {
    const brand = brandOf(value)
    if (brand === 'Object') this.#properties(value)
    else if (brand === 'Date') {
      this.#byte(valueTag.date)
      this.#double(Date.prototype.valueOf.call(value))
    } else if (brand === 'Map') this.#entries(value as Map<unknown, unknown>)
    else if (brand === 'Set') this.#members(value as Set<unknown>)
    else if (brand === 'RegExp') {
      this.#byte(valueTag.regexp)
      this.#text((value as RegExp).source)
      this.#text((value as RegExp).flags)
    } else if (brand === 'Error' || brand === 'DOMException') this.#error(value as Error)
    else if (brand === 'ArrayBuffer') this.#buffer(value as ArrayBuffer)
    else if (Object.hasOwn(primitiveOf, brand)) {
      this.#byte(valueTag.boxed)
      this.#write(primitiveOf[brand].call(value))
    } else throw brand === 'SharedArrayBuffer' ? notShared() : notCloned(brand)
  }

  #entries(map: ReadonlyMap<unknown, unknown>): void {
    // Getters of the encoded value could change the map.
    const entries = [...Map.prototype.entries.call(map)]
    this.#byte(valueTag.map)
    this.#count(entries.length)
    for (const [key, value] of entries) {
      this.#write(key)
      this.#write(value)
    }
  }

  #members(set: ReadonlySet<unknown>): void {
    const members = [...Set.prototype.values.call(set)]
    this.#byte(valueTag.set)
    this.#count(members.length)
    for (const member of members) this.#write(member)
  }

  #error(error: Error): void {
    const { name, message, stack } = error
    this.#byte(valueTag.error)
    this.#text(Object.hasOwn(errorKinds, name) ? name : 'Error')
    this.#write(message === undefined ? undefined : String(message))
    this.#write(typeof stack === 'string' ? stack : undefined)
    if (Object.hasOwn(error, 'cause')) this.#write(error.cause)
    else this.#byte(valueTag.hole)
  }

  #buffer(buffer: ArrayBuffer): void {
    const bytes = new Uint8Array(buffer)
    this.#byte(valueTag.buffer)
    this.#count(bytes.length)
    this.#reserve(bytes.length)
    copyBytes(this.#bytes, this.#at, bytes)
    this.#at += bytes.length
  }
}

/** The writer, or undefined while it encodes: a getter of the value may send another value. */
let free: ValueWriter | undefined = new ValueWriter()

const viewNames = viewKinds.map(({ name }) => name)

const encoder = new TextEncoder()

/** The functions that return the primitive which an object wraps: a class may define its own `valueOf`. */
const primitiveOf: Readonly<Record<string, () => unknown>> = {
  Number: Number.prototype.valueOf,
  String: String.prototype.valueOf,
  Boolean: Boolean.prototype.valueOf,
  BigInt: BigInt.prototype.valueOf,
}

function brandOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}

/** The reason why the writer itself refuses a value, in contrast to an error of one of its getters. */
class Refused extends Error {}

function notCloned(what: string): Refused {
  return new Refused(`${what.length > 200 ? `${what.slice(0, 200)}...` : what} could not be cloned`)
}

function notShared(): Refused {
  return new Refused(
    'a SharedArrayBuffer cannot be sent, because messages copy: send an array on it, or share it by the args of run',
  )
}

/**
 * Tells whether some elements of a long array do not exist. It samples, since searching a single hole would cost as
 * much as encoding.
 */
function hasHoles(values: readonly unknown[]): boolean {
  const samples = 64
  for (let n = 0; n <= samples; n++) {
    if (!(Math.floor(((values.length - 1) * n) / samples) in values)) return true
  }
  return false
}

function isIndex(name: string, length: number): boolean {
  const index = Number(name)
  return index < length && String(index >>> 0) === name
}
