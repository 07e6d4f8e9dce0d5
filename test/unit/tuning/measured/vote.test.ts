import { expect, it } from 'vitest'
import { elected } from '../../../../src/tuning/measured/compare-models.js'

it.each<[string, (string | null)[], string | null]>([
  ['two against one', ['a', 'b', 'b'], 'b'],
  ['one model', ['a'], 'a'],
  ['three that disagree: the earliest', ['c', 'b', 'a'], 'c'],
  ['two against two: the earliest', ['a', 'b', 'b', 'a'], 'a'],
  ['models that abstain', [null, null, 'a'], 'a'],
  ['all that abstain', [null, null], null],
])('a vote of %s', (_, choices, winner) => {
  expect(elected(choices)).toBe(winner)
})
