import { expect, test } from 'vitest'
import {
  concatenate,
  concatenateWords,
  packBlocks,
  packWords,
  unpackBlocks,
  unpackWords,
} from '../../../src/base/packing.js'

const blocks = [5, 0, 8, 1].map((size, b) => Uint8Array.from({ length: size }, (_, i) => 16 * b + i))

test('unpackBlocks returns the blocks that packBlocks packed, each at a multiple of 8 bytes', () => {
  const unpacked = unpackBlocks(packBlocks(blocks))
  expect(unpacked).toEqual(blocks)
  for (const block of unpacked) expect(block.byteOffset % 8).toBe(0)
  expect(unpackBlocks(packBlocks([]))).toEqual([])
})

test('unpackWords returns the lists that packWords packed', () => {
  const lists = [Int32Array.of(1, -2), new Int32Array(0), Int32Array.of(3)]
  expect(packWords(lists).byteLength).toBe(4 * 7)
  expect(unpackWords(packWords(lists))).toEqual(lists)
})

test('concatenate of blocks holds their bytes in order', () => {
  expect([...concatenate(blocks)]).toEqual(blocks.flatMap((block) => [...block]))
  expect([...concatenate([Uint8Array.of(1, 2), Uint8Array.of(3, 4)])]).toEqual([1, 2, 3, 4])
  expect(concatenate([])).toHaveLength(0)
})

test('concatenateWords of lists holds their words in order', () => {
  expect([...concatenateWords([[1, 2], Int32Array.of(3), []])]).toEqual([1, 2, 3])
  expect(concatenateWords([])).toHaveLength(0)
})
