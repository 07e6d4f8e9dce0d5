import { run, websocket } from 'rankweave'
import { collectiveConformance } from 'rankweave/conformance'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../support/compiled.js'
import { isSoak, sampled } from '../support/soak.js'
import examples from '../support/threads-examples.js'

const layouts = [
  { ranks: 5, fabric: websocket({ ranksPerProcess: [2, 3] }) },
  { ranks: 3, fabric: websocket({ processes: 1 }) },
  { ranks: 6, fabric: websocket({ ranksPerProcess: [1, 0, 3, 2] }) },
  { ranks: 4, fabric: websocket({ processes: 4 }) },
]

// The first every day, each second in `npm run soak`, all in `npm run soak:long`.
describe.each(!isSoak ? layouts.slice(0, 1) : sampled(layouts, 2))(
  'a world of $ranks ranks on $fabric.processes processes connected by WebSockets',
  ({ ranks, fabric }) => {
    const expected = { kind: 'websocket', processes: fabric.processes, places: 'OS processes' } as const
    const suite = collectiveConformance(fabric, { ranks, expected, seed: ranks, sharedWorlds: true })
    // The first is all cases that can share a world with default settings; the others start one each.
    for (const { name, run: check } of !isSoak ? suite.slice(0, 1) : suite) it(name, check)
  },
)

describe('the examples on processes connected by WebSockets', () => {
  const program = compiledUrl('threads-examples.ts')

  it.each(!isSoak ? [2] : [1, 2, 4])('give the same bits on %i processes as on local', async (processes) => {
    const expected = await run(examples, { ranks: 12 })
    const results = await run(program, { ranks: 12, processes, fabric: 'websocket' })
    // toEqual compares elements with Object.is: the same bits, but for NaN.
    expect(results).toEqual(expected)
    expect(expected[0].product).not.toBeNull()
  })
})
