import { expect, test } from 'vitest'

test('a list that lacks elements equals none that has them', () => {
  expect(new Array(2)).not.toEqual([1, 2])
  expect([1, 2]).not.toEqual(new Array(2))
  expect([1, 2]).toEqual([1, 2])
  expect([1, 2]).not.toEqual([1, 2, 3])
})

test('numbers are equal as Object.is has it, in lists and in typed arrays', () => {
  expect([Number.NaN, -0]).toEqual([Number.NaN, -0])
  expect([0]).not.toEqual([-0])
  expect(Float64Array.of(0)).not.toEqual(Float64Array.of(-0))
  expect(Float64Array.of(Number.NaN, 1)).toEqual(Float64Array.of(Number.NaN, 1))
})

test('typed arrays of different classes or lengths differ', () => {
  expect(Int32Array.of(1)).not.toEqual(Uint32Array.of(1))
  expect(Int32Array.of(1)).not.toEqual(Int32Array.of(1, 0))
})

test('arrays whose buffers are detached are empty', () => {
  const [one, other] = [new Uint8Array(4), new Uint8Array(4)]
  structuredClone([one, other], { transfer: [one.buffer, other.buffer] })
  expect(one).toEqual(other)
  expect(one).toEqual(new Uint8Array(0))
})
