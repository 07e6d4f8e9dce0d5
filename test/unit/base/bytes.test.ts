import { expect, test } from 'vitest'
import { bytesOf, roundUp, wordsOf } from '../../../src/base/bytes.js'

test('bytesOf views the same memory, and returns a Uint8Array itself', () => {
  const words = Int32Array.of(1, 2, 3)
  const bytes = bytesOf(words.subarray(1))
  expect(bytes).toEqual(new Uint8Array(words.buffer, 4, 8))
  expect(bytes.buffer).toBe(words.buffer)
  expect(bytesOf(bytes)).toBe(bytes)
})

test('bytesOf a Buffer is a plain Uint8Array of its bytes', () => {
  const buffer = Buffer.from([1, 2, 3])
  expect(bytesOf(buffer).constructor).toBe(Uint8Array)
  expect([...bytesOf(buffer)]).toEqual([1, 2, 3])
})

test('wordsOf views the whole words of bytes', () => {
  const words = Int32Array.of(5, 6)
  expect(wordsOf(bytesOf(words))).toEqual(words)
  expect(wordsOf(new Uint8Array(words.buffer, 4, 3))).toHaveLength(0)
})

test('roundUp returns the next multiple', () => {
  expect([0, 1, 8, 9].map((size) => roundUp(size, 8))).toEqual([0, 8, 8, 16])
  expect(roundUp(2 ** 40 + 1, 64)).toBe(2 ** 40 + 64)
})
