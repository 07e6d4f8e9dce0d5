import { elementSizeBytes, elementsIn, newArray, type TypedArray } from '../../messages/datatype/elements.js'
import { newWords, type Words, wordsPerElement, wordViewOf } from './memory-words.js'

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
