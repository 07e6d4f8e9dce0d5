import { typedArrays } from './elements.js'

/**
 * The tags of the format in which values travel: one byte that names the content, then the content. Numbers of bytes
 * and elements are unsigned LEB128; fixed-size numbers are little-endian. Objects are numbered in the order in which
 * their encoding begins, property names in the order of their first use, and repeated by number.
 */
export const valueTag = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  /** A 32-bit integer other than -0, as zigzag LEB128. */
  integer: 4,
  /** A number in 8 bytes. It is not a NaN, whose bits would depend on the engine. */
  double: 5,
  nan: 6,
  /** A bigint in 8 bytes, signed. */
  bigint: 7,
  /** A longer bigint: the sign (0 or 1), then the magnitude in hexadecimal digits as a text. */
  longBigint: 8,
  /** The number of characters, all of ASCII, then a byte for each. */
  text: 9,
  /** The number of UTF-16 units, then two bytes for each, for any text, also with half of a surrogate pair. */
  units: 10,
  seen: 11,
  /** The number of properties, then for each its name and value. */
  object: 12,
  /** The number of elements, then the elements. */
  array: 13,
  /** The length, the number of elements that exist, then for each its index and value. */
  sparse: 14,
  /** A missing element, only in an array. */
  hole: 15,
  /** The number of entries, then keys and values. */
  map: 16,
  set: 17,
  /** The milliseconds, 8 bytes. */
  date: 18,
  /** The source and flags as texts. */
  regexp: 19,
  /** The primitive that it wraps. */
  boxed: 20,
  /** The name; then message, stack and cause, each undefined if there is none. */
  error: 21,
  /** The number of bytes, then the bytes. */
  buffer: 22,
  /** The kind of view, the byte offset, the number of elements, then its buffer. */
  view: 23,
  /** An array of 32-bit integers, none of them -0: the number of elements, then 4 bytes each. */
  integers: 24,
  /** An array of numbers, none of them NaN: the number of elements, then 8 bytes each. */
  doubles: 25,
} as const

/** The deepest nesting of arrays and objects; about what a native structured clone allows on the usual stack. */
export const deepestValue = 1000

/** The kinds of views by their number in the format. */
export const viewKinds = [DataView, ...typedArrays] as const

/** The errors by name; any other arrives as an `Error`. */
export const errorKinds = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
} as const

/** The most characters of a text that is converted here; longer texts are converted by the engine. */
export const shortText = 24

// The long loops of values are in functions that read no field, since inside a method the engine may give up compiling
// them.

export type Packing = 'integers' | 'doubles'

/** Returns how an array of numbers travels, if it is one and has no holes. */
export function packingOf(values: readonly unknown[]): Packing | undefined {
  let packing: Packing = 'integers'
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (typeof value !== 'number' || Number.isNaN(value)) return undefined
    if ((value | 0) !== value || (value === 0 && 1 / value < 0)) packing = 'doubles'
  }
  return packing
}

export function writeNumbers(view: DataView, at: number, values: readonly number[], packing: Packing): void {
  if (packing === 'integers') {
    for (let i = 0; i < values.length; i++) view.setInt32(at + 4 * i, values[i], true)
  } else for (let i = 0; i < values.length; i++) view.setFloat64(at + 8 * i, values[i], true)
}

export function writeUnits(view: DataView, at: number, text: string): void {
  for (let i = 0; i < text.length; i++) view.setUint16(at + 2 * i, text.charCodeAt(i), true)
}

export function integersOf(view: DataView, at: number, length: number): number[] {
  const values: number[] = []
  for (let i = 0; i < length; i++) values.push(view.getInt32(at + 4 * i, true))
  return values
}

export function doublesOf(view: DataView, at: number, length: number): number[] {
  const values: number[] = []
  for (let i = 0; i < length; i++) values.push(view.getFloat64(at + 8 * i, true))
  return values
}

export function utf16Text(view: DataView, at: number, length: number): string {
  // The function takes as many arguments as any engine allows.
  const units = new Uint16Array(Math.min(length, 4096))
  let text = ''
  for (let done = 0; done < length; done += units.length) {
    const count = Math.min(units.length, length - done)
    for (let i = 0; i < count; i++) units[i] = view.getUint16(at + 2 * (done + i), true)
    text += String.fromCharCode.apply(null, units.subarray(0, count) as unknown as number[])
  }
  return text
}
