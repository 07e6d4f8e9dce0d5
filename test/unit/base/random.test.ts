import { expect, test } from 'vitest'
import { mulberry32 } from '../../../src/base/random.js'

function draws(seed: number, count: number): number[] {
  const next = mulberry32(seed)
  return Array.from({ length: count }, next)
}

test('gives the known sequence', () => {
  expect(draws(0, 3)).toEqual([1144304738, 1416247, 958946056])
  expect(draws(1, 3)).toEqual([2693262067, 11749833, 2265367787])
})

test('depends on the seed modulo 2^32, and on nothing else', () => {
  expect(draws(5, 10)).toEqual(draws(5 + 2 ** 32, 10))
  expect(draws(5, 10)).not.toEqual(draws(6, 10))
})
