import { expect, test } from 'vitest'
import { steadyCost } from '../../../src/calibrate/calibrate.js'

test.each([
  ['is steady at once', () => 0.5, 2, 0.5],
  [
    'is steady once caches are full',
    (longer: number) => (longer <= 65_536 ? 0.1 * (longer / 16_384) : 0.9),
    4,
    0.9,
  ],
  ['never is steady: a MiB', (longer: number) => longer, 4, 1_048_576],
  ['is nothing', () => 0, 2, 0],
])('a cost per byte that %s', async (_, costAt, lengths, expected) => {
  const asked: number[] = []
  const costs = await steadyCost(async (shorter, longer) => {
    expect(shorter).toBe(asked.at(-1) ?? 8)
    asked.push(longer)
    return [costAt(longer), costAt(longer), 100 * costAt(longer)]
  })
  expect([asked.length, costs[0]]).toEqual([lengths, expected])
})
