import { expect, it } from 'vitest'
import { accountFigures } from '../../bench/split/retained-figures.js'

it('distributed tables take less than a quarter of replicated ones: 64 processes, and 4,096 of one rank', () => {
  const figures = [...accountFigures(false)].map(({ case: name, met, ours }) => ({ name, met, ours }))
  expect(figures).toMatchObject([{ met: true }, { met: true }, { met: true }])
})
