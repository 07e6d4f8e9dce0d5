import { run, threads } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { matchCases } from '../../../support/match-program.js'

const ranks = 24
const asPlanned = matchCases.map(() => 'same plan, right blocks')

describe('the distributed engine makes the same plan as the planner, byte for byte', () => {
  it('threads, 2 processes', async () => {
    const file = new URL('../../../support/match-program.ts', import.meta.url)
    const results = await run<string[]>(file, { ranks, fabric: threads({ processes: 2 }) })
    expect(results).toEqual(new Array(ranks).fill(asPlanned))
  })
})
