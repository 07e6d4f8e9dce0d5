import { expect, it } from 'vitest'
import { retainedFigures } from '../../bench/split/retained-figures.js'

it('distributed tables take less than a quarter of replicated ones: 64 processes, and 4,096 of one rank', () => {
  let compared = 0
  for (const { case: name, met, ours } of retainedFigures(false)) {
    if (met === null) continue
    compared++
    expect({ name, met, ours }).toMatchObject({ met: true })
  }
  expect(compared).toBe(3)
})
