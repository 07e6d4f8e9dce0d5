import type { TypedArray } from './elements.js'
import type { StridedView } from './strided-view.js'

/**
 * What a message can carry: a typed array (its elements travel, not its buffer), a strided view of one
 * (MPI_Type_vector), or any other value that the structured clone algorithm takes.
 */
export type Sendable = TypedArray | StridedView | SendableValue

/**
 * What travels as a structured clone: plain objects and arrays, maps, sets, dates, errors, numbers, strings
 * and so on. Functions, classes, symbols and promises do not compile; what lies deeper inside is checked when
 * it is sent (ERR_CLONE). A generic function takes `data: T & SendableValue`.
 */
export type SendableValue =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | (object & NotSent)
  // For object literals, whose properties TypeScript wants to know.
  | ({ readonly [property: string]: unknown } & NotSent)

interface NotSent {
  /** Functions and classes have it, data does not. */
  readonly [Symbol.hasInstance]?: never
  /** A promise, which lacks an `await`. */
  readonly then?: never
  /** Typed arrays travel by their elements. */
  readonly BYTES_PER_ELEMENT?: never
}
