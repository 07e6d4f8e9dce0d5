import { expect, it } from 'vitest'
import { below, mulberry32 } from '../../../src/base/random.js'
import { stableOrder } from '../../../src/base/search.js'

it('orders by key, then number', () => {
  const next = mulberry32(7)
  for (const [count, keys] of [
    [0, 1],
    [1, 1],
    [200, 5],
    [1000, 2 ** 25],
  ] as const) {
    const key = Array.from({ length: count }, () => below(next, keys))
    const expected = key.map((_, number) => number).sort((a, b) => key[a] - key[b] || a - b)
    expect([...stableOrder(count, (number) => key[number])]).toEqual(expected)
  }
  expect([...stableOrder(4, (number) => number >> 1)]).toEqual([0, 1, 2, 3])
})
