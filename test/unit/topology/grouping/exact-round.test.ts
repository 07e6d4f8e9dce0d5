import { expect, test } from 'vitest'
import { EventLoopWatch } from '../../../../src/comm/world/event-loop.js'
import { prepareEngine } from '../../../../src/topology/grouping/exact-round.js'

test('prepareEngine, while it loads the solver, is counted as something that can wake ranks', async () => {
  const watch = new EventLoopWatch()
  let loaded = false
  const loading = prepareEngine('exact').then(() => {
    loaded = true
  })
  const seen = new Set<string>()
  do {
    seen.add(watch.activity())
    await new Promise((resolve) => setImmediate(resolve))
  } while (!loaded)
  await loading
  expect([...seen]).toEqual(['some'])
})
