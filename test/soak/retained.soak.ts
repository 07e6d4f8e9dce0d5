import { expect, it } from 'vitest'
import { accountFigures } from '../../bench/split/retained-figures.js'
import { tier } from '../support/soak.js'

// In `npm run soak` on 1,024 processes of one rank.
it('distributed tables take less than a quarter of replicated ones: 64 processes, and 4,096 of one rank', () => {
  const figures = [...accountFigures(tier !== 'long')].map(({ case: name, met, ours }) => ({
    name,
    met,
    ours,
  }))
  expect(figures).toMatchObject([{ met: true }, { met: true }, { met: true }])
})
