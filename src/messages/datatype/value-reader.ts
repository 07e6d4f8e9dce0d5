import { RankweaveError, reasonText } from '../../errors.js'
import {
  deepestValue,
  doublesOf,
  errorKinds,
  integersOf,
  shortText,
  utf16Text,
  valueTag,
  viewKinds,
} from './value-format.js'

/**
 * Returns the value in `bytes`, which it shares nothing with.
 *
 * @throws ERR_CLONE for bytes that `encodeValue` has not made
 */
export function decodeValue(bytes: Uint8Array): unknown {
  try {
    return new ValueReader(bytes).decode()
  } catch (cause) {
    const message = `a received value cannot be decoded: ${reasonText(cause)}`
    throw new RankweaveError('ERR_CLONE', message, { cause })
  }
}

/**
 * Decodes one value. Bytes of another process are not trusted: no count is accepted that the remaining bytes could not
 * hold, so allocations are in proportion to them.
 */
class ValueReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0
  #depth = 0
  readonly #objects: unknown[] = []
  readonly #names: string[] = []

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** @throws TypeError, RangeError or SyntaxError for bytes that are not one value */
  decode(): unknown {
    const value = this.#read()
    if (this.#at !== this.#bytes.length) throw malformed('bytes after its end')
    return value
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw malformed('it ends early')
    return byte
  }

  #count(): number {
    let byte = this.#byte()
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let unit = 0x80; byte > 0x7f; unit *= 0x80) {
      byte = this.#byte()
      value += (byte & 0x7f) * unit
      if (!Number.isSafeInteger(value)) throw malformed('a count is too large')
    }
    return value
  }

  /** Reads a count of things that take at least `bytesEach` of the remaining bytes. */
  #countWithin(bytesEach: number): number {
    const count = this.#count()
    if (count * bytesEach > this.#bytes.length - this.#at) throw malformed('it ends early')
    return count
  }

  #read(): unknown {
    return this.#value(this.#byte())
  }

  #value(tag: number): unknown {
    if (tag === valueTag.integer) {
      const zigzag = this.#count()
      return (zigzag >>> 1) ^ -(zigzag & 1)
    }
    switch (tag) {
      case valueTag.undefined:
        return undefined
      case valueTag.null:
        return null
      case valueTag.false:
        return false
      case valueTag.true:
        return true
      case valueTag.double:
        return this.#double()
      case valueTag.nan:
        return Number.NaN
      case valueTag.bigint:
        this.#at += 8
        return this.#view.getBigInt64(this.#at - 8, true)
      case valueTag.longBigint:
        return this.#longBigint()
      case valueTag.text:
        return this.#text()
      case valueTag.units:
        return this.#units()
      case valueTag.seen:
        return this.#seen(this.#objects)
      default:
        return this.#nested(tag)
    }
  }

  #nested(tag: number): unknown {
    if (++this.#depth > deepestValue) throw malformed(`it is more than ${deepestValue} objects deep`)
    const value = this.#object(tag)
    this.#depth--
    return value
  }

  #object(tag: number): unknown {
    switch (tag) {
      case valueTag.object:
        return this.#properties()
      case valueTag.array:
        return this.#array()
      case valueTag.integers: {
        const length = this.#countWithin(4)
        this.#at += 4 * length
        return this.#add(integersOf(this.#view, this.#at - 4 * length, length))
      }
      case valueTag.doubles: {
        const length = this.#countWithin(8)
        this.#at += 8 * length
        return this.#add(doublesOf(this.#view, this.#at - 8 * length, length))
      }
      case valueTag.sparse:
        return this.#sparse()
      case valueTag.map:
        return this.#map()
      case valueTag.set:
        return this.#set()
      case valueTag.date:
        return this.#add(new Date(this.#double()))
      case valueTag.regexp:
        return this.#add(new RegExp(this.#anyText(), this.#anyText()))
      case valueTag.boxed:
        return this.#boxed()
      case valueTag.error:
        return this.#error()
      case valueTag.buffer: {
        const size = this.#countWithin(1)
        const copy = new Uint8Array(size)
        copy.set(this.#take(size))
        return this.#add(copy.buffer)
      }
      case valueTag.view:
        return this.#arrayView()
      default:
        throw malformed(`no value begins with ${tag}`)
    }
  }

  /** Numbers an object before its content, which may refer to it. */
  #add<T>(object: T): T {
    this.#objects.push(object)
    return object
  }

  #seen<T>(list: readonly T[]): T {
    const number = this.#count()
    if (number >= list.length) throw malformed('it refers to what has not come')
    return list[number]!
  }

  #take(size: number): Uint8Array {
    this.#at += size
    return this.#bytes.subarray(this.#at - size, this.#at)
  }

  #double(): number {
    this.#at += 8
    return this.#view.getFloat64(this.#at - 8, true)
  }

  #longBigint(): bigint {
    const negative = this.#byte() === 1
    const magnitude = BigInt(`0x${this.#anyText()}`)
    return negative ? -magnitude : magnitude
  }

  #text(): string {
    const size = this.#countWithin(1)
    if (size > shortText) return decoder.decode(this.#take(size))
    let text = ''
    for (let i = 0; i < size; i++) {
      const unit = this.#bytes[this.#at + i]
      if (unit > 0x7f) return decoder.decode(this.#take(size))
      text += String.fromCharCode(unit)
    }
    this.#at += size
    return text
  }

  #units(): string {
    const length = this.#countWithin(2)
    this.#at += 2 * length
    return utf16Text(this.#view, this.#at - 2 * length, length)
  }

  #anyText(): string {
    const tag = this.#byte()
    if (tag === valueTag.text) return this.#text()
    if (tag === valueTag.units) return this.#units()
    throw malformed('it lacks a text')
  }

  #name(): string {
    const tag = this.#byte()
    if (tag === valueTag.seen) return this.#seen(this.#names)
    this.#at--
    const name = this.#anyText()
    this.#names.push(name)
    return name
  }

  #properties(): object {
    const object: Record<string, unknown> = this.#add({})
    for (let left = this.#countWithin(2); left > 0; left--) {
      const name = this.#name()
      const value = this.#read()
      if (name === '__proto__') define(object, name, value)
      else object[name] = value
    }
    return object
  }

  #array(): unknown[] {
    const values: unknown[] = this.#add([])
    const length = this.#countWithin(1)
    for (let i = 0; i < length; i++) {
      const tag = this.#byte()
      if (tag === valueTag.hole) values.length = i + 1
      else values.push(this.#value(tag))
    }
    return values
  }

  #sparse(): unknown[] {
    const values: unknown[] = this.#add([])
    const length = this.#count()
    if (length > longestArray) throw malformed('a count is too large')
    // An array of the greatest length has no memory for its holes, nor has it after it was made shorter.
    values.length = longestArray
    values.length = length
    for (let left = this.#countWithin(2); left > 0; left--) {
      const index = this.#count()
      if (index >= length) throw malformed('an index is too large')
      values[index] = this.#read()
    }
    return values
  }

  #map(): Map<unknown, unknown> {
    const map = this.#add(new Map<unknown, unknown>())
    for (let left = this.#countWithin(2); left > 0; left--) {
      const key = this.#read()
      map.set(key, this.#read())
    }
    return map
  }

  #set(): Set<unknown> {
    const set = this.#add(new Set<unknown>())
    for (let left = this.#countWithin(1); left > 0; left--) set.add(this.#read())
    return set
  }

  #boxed(): unknown {
    const number = this.#objects.push(undefined) - 1
    const value = this.#read()
    if (typeof value === 'object' || value === undefined) throw malformed('it wraps no primitive')
    this.#objects[number] = Object(value)
    return this.#objects[number]
  }

  #error(): Error {
    const name = this.#anyText()
    const number = this.#objects.length
    const ErrorOf = Object.hasOwn(errorKinds, name) ? errorKinds[name as keyof typeof errorKinds] : Error
    const error = new ErrorOf()
    this.#objects[number] = error
    for (const property of ['message', 'stack'] as const) {
      const value = this.#read()
      if (typeof value === 'string') define(error, property, value, false)
    }
    const tag = this.#byte()
    if (tag !== valueTag.hole) define(error, 'cause', this.#value(tag), false)
    return error
  }

  #arrayView(): ArrayBufferView {
    const View = viewKinds[this.#byte()]
    const number = this.#objects.push(undefined) - 1
    const byteOffset = this.#count()
    const length = this.#count()
    const buffer = this.#read()
    if (View === undefined || !(buffer instanceof ArrayBuffer)) throw malformed('a view of no memory')
    const view = new (View as typeof Uint8Array)(buffer, byteOffset, length)
    this.#objects[number] = view
    return view
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const longestArray = 2 ** 32 - 1

function define(object: object, name: string, value: unknown, enumerable = true): void {
  Object.defineProperty(object, name, { value, enumerable, configurable: true, writable: true })
}

function malformed(how: string): RangeError {
  return new RangeError(`the bytes are not a value: ${how}`)
}
