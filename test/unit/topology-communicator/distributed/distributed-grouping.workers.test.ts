import { run, threads } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../../../support/compiled.js'
import { groupingCases } from '../../../support/grouping-program.js'

const ranks = 24
const asPlanned = groupingCases.map(() => 'same plan, right blocks')

describe('the distributed engine makes the same plan as the planner, byte for byte', () => {
  it('threads, 2 processes', async () => {
    const results = await run<string[]>(compiledUrl('grouping-program.ts'), {
      ranks,
      fabric: threads({ processes: 2 }),
    })
    expect(results).toEqual(new Array(ranks).fill(asPlanned))
  })
})
