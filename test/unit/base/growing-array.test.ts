import { expect, test } from 'vitest'
import { GrowingFloat64Array, GrowingInt32Array } from '../../../src/base/growing-array.js'

test.each([0, 1, 3])(
  'a growing array of capacity %i holds what is pushed and appended, in order',
  (capacity) => {
    const list = new GrowingInt32Array(capacity)
    for (let value = 0; value < 5; value++) list.push(value)
    list.append(Int32Array.from({ length: 100 }, (_, i) => 5 + i))
    list.append(new Int32Array(0))
    expect(list.length).toBe(105)
    expect([...list.view()]).toEqual(Array.from({ length: 105 }, (_, i) => i))
    expect(list.toArray()).toEqual(list.view())
  },
)

test('a growing array reads and writes single items, and starts over when its length is set to 0', () => {
  const list = new GrowingInt32Array()
  list.append(Int32Array.of(1, 2, 3))
  list.set(1, 7)
  expect(list.get(1)).toBe(7)
  list.length = 0
  list.push(9)
  expect([...list.toArray()]).toEqual([9])
})

test('toArray copies: items pushed later do not change it', () => {
  const list = new GrowingFloat64Array()
  for (let i = 0; i < 200; i++) list.push(i / 2)
  const copy = list.toArray()
  list.push(-1)
  expect(copy).toEqual(Float64Array.from({ length: 200 }, (_, i) => i / 2))
})
