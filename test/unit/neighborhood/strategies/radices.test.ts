import { expect, it } from 'vitest'
import {
  coveringRadices,
  offsetRadices,
  usefulRadices,
} from '../../../../src/neighborhood/strategies/digits.js'

it('covers a count with no digit larger than needed', () => {
  expect(coveringRadices(1)).toEqual([[]])
  expect(coveringRadices(4)).toEqual([[4], [2, 2]])
  expect(coveringRadices(9).map((digits) => digits.join('.'))).toEqual([
    ...['9', '2.5', '3.3', '5.2', '2.2.3', '2.3.2', '3.2.2', '2.2.2.2'],
  ])
})

it.each([2, 3, 7, 16, 31, 32, 33, 97, 256, 1000, 4096, 2 ** 20])(
  'useful lists cover %i and are few',
  (count) => {
    const lists = usefulRadices(count)
    expect(lists.length).toBeLessThan(200)
    expect(lists[0]).toEqual([count])
    for (const digits of lists) {
      expect(digits.reduce((product, radix) => product * radix, 1)).toBeGreaterThanOrEqual(count)
      expect(digits.every((radix) => radix >= 2)).toBe(true)
    }
  },
)

it.each([1, 2, 3, 5, 16, 17, 64, 1000])('lists for digits of offsets cover %i and are few', (count) => {
  const lists = offsetRadices(count)
  expect(lists.length).toBeLessThan(24)
  for (const digits of lists)
    expect(digits.reduce((product, radix) => product * radix, 1)).toBeGreaterThanOrEqual(count)
})

it('lists for digits of offsets are even ones, and two of which one is about twice the other', () => {
  expect(offsetRadices(16).map((digits) => digits.join('.'))).toEqual([
    '16',
    '4.4',
    '3.3.2',
    '2.3.3',
    '2.2.2.2',
    '6.3',
    '3.6',
  ])
})
