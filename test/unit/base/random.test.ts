import { expect, test } from 'vitest'
import { mulberry32, seededRandom } from '../../../src/base/random.js'

function draws(seed: number, count: number): number[] {
  const next = mulberry32(seed)
  return Array.from({ length: count }, next)
}

test('mulberry32 yields the known sequence', () => {
  expect(draws(0, 3)).toEqual([1144304738, 1416247, 958946056])
  expect(draws(1, 3)).toEqual([2693262067, 11749833, 2265367787])
})

test('mulberry32 depends on nothing but the seed modulo 2^32', () => {
  expect(draws(5, 10)).toEqual(draws(5 + 2 ** 32, 10))
  expect(draws(5, 10)).not.toEqual(draws(6, 10))
})

test('seededRandom yields the sequence of mulberry32 as numbers below 1', () => {
  const next = seededRandom(1)
  expect([next(), next(), next()]).toEqual([0.6270739405881613, 0.002735721180215478, 0.5274470399599522])
})
