import { run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../../../support/compiled.js'
import type { SharedTablesCase } from '../../../support/shared-tables-program.js'
import { isSoak } from '../../../support/soak.js'

const program = compiledUrl('shared-tables-program.ts')

const cases: readonly { readonly part: SharedTablesCase; readonly ranks: number }[] = [
  { part: 'topology and plan', ranks: 1024 },
  { part: 'ranks', ranks: 16_384 },
]

describe.each(cases)('$part of $ranks ranks on threads', ({ part, ranks }) => {
  it.each(isSoak ? [2, 3] : [3])(
    'is stored once, and dropped with the communicator, on %i processes',
    async (processes) => {
      const results = await run<boolean, SharedTablesCase>(program, {
        ranks,
        fabric: 'threads',
        processes,
        args: part,
      })
      expect(results).toEqual(new Array(ranks).fill(true))
    },
  )
})
