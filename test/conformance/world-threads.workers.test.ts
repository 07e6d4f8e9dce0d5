import { run, threads } from 'rankweave'
import { collectiveConformance } from 'rankweave/conformance'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../support/compiled.js'
import { daily, isSoak } from '../support/soak.js'
import examples from '../support/threads-examples.js'

// The first in `npm test`; on four threads, and with one rank on each, in test/soak.
const layouts = [
  { ranks: 4, fabric: threads({ ranksPerProcess: [1, 0, 3], ringBytes: 4096 }) },
  { ranks: 1, fabric: threads({ processes: 1 }) },
  { ranks: 7, fabric: threads({ processes: 2 }) },
]
describe.each(daily(layouts, layouts.length))(
  'a world of $ranks ranks on $fabric.processes threads',
  ({ ranks, fabric }) => {
    const expected = { kind: 'threads', processes: fabric.processes, places: 'threads' } as const
    const options = { ranks, expected, seed: ranks, sharedWorlds: true }
    for (const { name, run: check } of collectiveConformance(fabric, options)) it(name, check)
  },
)

describe('the examples on threads', () => {
  const program = compiledUrl('threads-examples.ts')

  it.each(!isSoak ? [2] : [1, 2, 4])('give the same bits on %i processes as on local', async (processes) => {
    const expected = await run(examples, { ranks: 12 })
    const results = await run(program, { ranks: 12, processes, fabric: 'threads' })
    // toEqual compares elements with Object.is: the same bits, but for NaN.
    expect(results).toEqual(expected)
    expect(expected[0].product).not.toBeNull()
  })
})
