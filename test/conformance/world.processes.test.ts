import { run, threads, websocket } from 'rankweave'
import { collectiveConformance } from 'rankweave/conformance'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../support/compiled.js'
import { expectedOf, runInOneWorld } from '../support/shared-world.js'
import examples from '../support/threads-examples.js'

const layouts = [
  {
    ranks: 4,
    fabric: threads({ ranksPerProcess: [1, 0, 3], ringBytes: 4096 }),
    others: /eagerLimitBytes 1000|^abort|^an error|^a cycle/,
  },
  { ranks: 5, fabric: websocket({ ranksPerProcess: [2, 3] }), others: /^a cycle/ },
]

// All cases on these and on other layouts are in worlds.soak.ts.
describe.each(layouts)('a world on $fabric.kind', ({ ranks, fabric, others }) => {
  it('passes cases of default settings, some algorithms and strategies among them', () =>
    runInOneWorld(fabric, ranks))

  const suite = collectiveConformance(fabric, {
    ranks,
    expected: expectedOf(fabric),
    seed: ranks,
    sharedWorlds: true,
  })
  for (const { name, run: check } of suite.filter((each) => others.test(each.name))) it(name, check)

  it('gives the same bits as local in all examples', async () => {
    const expectedResults = await run(examples, { ranks: 12 })
    const results = await run(compiledUrl('threads-examples.ts'), {
      ranks: 12,
      processes: 2,
      fabric: fabric.kind,
    })
    // toEqual compares elements with Object.is: the same bits, but for NaN.
    expect(results).toEqual(expectedResults)
    expect(expectedResults[0]!.product).not.toBeNull()
  })
})
