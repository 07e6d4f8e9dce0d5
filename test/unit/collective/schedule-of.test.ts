import { describe, expect, test } from 'vitest'
import { bcastBinomial } from '../../../src/collective/bcast-binomial.js'
import { scheduleOf } from '../../../src/collective/schedule-of.js'
import { verify } from '../../../src/schedule/verify/verify.js'

describe('scheduleOf', () => {
  test.each([1, 2, 3, 5, 8, 13])(
    'a binomial bcast of %i ranks verifies, for every root and some segments',
    (ranks) => {
      for (let root = 0; root < ranks; root++) {
        for (const segments of [1, 3]) {
          const schedule = scheduleOf(bcastBinomial, { ranks, root, segments })
          expect(verify(schedule).violations).toEqual([])
        }
      }
    },
  )
})
