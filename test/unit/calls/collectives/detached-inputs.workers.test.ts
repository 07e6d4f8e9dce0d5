import { run, threads } from 'rankweave'
import { expect, it } from 'vitest'
import { compiledUrl } from '../../../support/compiled.js'
import { expectHonest } from '../../../support/detached-outcomes.js'
import { detachingCalls, type Outcome, type Part, partsOf } from '../../../support/detached-program.js'

it.each(['data', 'into'] as const)(
  'between threads, %s that is transferred while a call runs is never a wrong result',
  async (which) => {
    // Short and long arrays, early and late, of both ranks.
    const parts = Object.keys(detachingCalls).flatMap((call) =>
      partsOf(call, which).filter((_, n) => n % 7 === 0),
    )
    const outcomes = await run<Outcome[], readonly Part[]>(compiledUrl('detached-program.ts'), {
      ranks: 4,
      fabric: threads({ processes: 2 }),
      args: parts,
      eagerLimitBytes: 2000,
    })
    expect(expectHonest(parts, outcomes)).toBeGreaterThan(0)
  },
)
