import { expect, test } from 'vitest'
import { addToList, getOrAdd } from '../../../src/base/maps.js'

test('getOrAdd makes the value of a key once, also where the value is null or 0', () => {
  for (const value of [null, 0, 'text']) {
    const map = new Map<string, typeof value>()
    let made = 0
    const make = () => {
      made++
      return value
    }
    expect([getOrAdd(map, 'a', make), getOrAdd(map, 'a', make)]).toEqual([value, value])
    expect([made, map.size]).toEqual([1, 1])
  }
})

test('addToList adds items to the list of their key, in order', () => {
  const lists = new Map<number, string[]>()
  for (const [key, item] of [
    [2, 'a'],
    [1, 'b'],
    [2, 'c'],
  ] as const)
    addToList(lists, key, item)
  expect([...lists]).toEqual([
    [2, ['a', 'c']],
    [1, ['b']],
  ])
})
