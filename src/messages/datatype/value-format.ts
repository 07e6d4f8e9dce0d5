import { typedArrays } from './elements.js'

/**
 * How values travel: one byte that says what follows, then that. Numbers of bytes and elements are unsigned
 * LEB128; fixed-size numbers are little-endian. Objects are numbered in the order in which their encoding
 * begins, property names in the order of their first use, and repeated by number.
 */
export const valueTag = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  /** Zigzag LEB128 of a 32-bit integer other than -0. */
  integer: 4,
  /** 8 bytes. Not a NaN, whose bits would depend on the engine. */
  double: 5,
  nan: 6,
  /** 8 bytes, signed. */
  bigint: 7,
  /** Sign (0 or 1), then the magnitude in hexadecimal digits as a text. */
  longBigint: 8,
  /** Characters, all of ASCII, then a byte for each. */
  text: 9,
  /** UTF-16 units, then two bytes for each: of any text, also with half of a surrogate pair. */
  units: 10,
  /** The number of an object. */
  seen: 11,
  /** Properties, then for each its name and value. */
  object: 12,
  /** Elements, then the elements. */
  array: 13,
  /** Length, elements that exist, then for each its index and value. */
  sparse: 14,
  /** In an array only: no element. */
  hole: 15,
  /** Entries, then keys and values. */
  map: 16,
  set: 17,
  /** Milliseconds, 8 bytes. */
  date: 18,
  /** Source and flags as texts. */
  regexp: 19,
  /** The primitive that it wraps. */
  boxed: 20,
  /** Its name; then message, stack and cause, each undefined where there is none. */
  error: 21,
  /** Bytes, then the bytes. */
  buffer: 22,
  /** Which kind, byte offset, elements, then its buffer. */
  view: 23,
  /** An array of 32-bit integers, none of them -0: elements, then 4 bytes each. */
  integers: 24,
  /** An array of numbers, none of them NaN: elements, then 8 bytes each. */
  doubles: 25,
} as const

/** Arrays and objects within each other; about what a native structured clone allows on the usual stack. */
export const deepestValue = 1000

/** Kinds of views by their number in the format. */
export const viewKinds = [DataView, ...typedArrays] as const

/** Errors by name; any other arrives as an `Error`. */
export const errorKinds = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
} as const

/** Longer texts are converted by the engine. */
export const shortText = 24
