import { run } from 'rankweave'
import { expect, it } from 'vitest'
import { compiledUrl } from '../../../support/compiled.js'
import type { SharedTablesCase } from '../../../support/shared-tables-program.js'

it.each<[SharedTablesCase, number]>([
  ['topology and plan', 1024],
  ['ranks', 16_384],
])('%s of %i ranks on threads are stored once, and dropped with the communicator', async (args, ranks) => {
  const results = await run<boolean, SharedTablesCase>(compiledUrl('shared-tables-program.ts'), {
    ...{ ranks, fabric: 'threads', processes: 3, args },
  })
  expect(results).toEqual(new Array(ranks).fill(true))
})
