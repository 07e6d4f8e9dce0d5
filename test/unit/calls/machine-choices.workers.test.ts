import { run } from 'rankweave'
import { expect, it } from 'vitest'
import { algorithms } from '../../../src/collective/algorithms.js'
import { parseMachine } from '../../../src/machine/machine-text.js'
import { compiledUrl } from '../../support/compiled.js'
import { type CallCount, countedCollectives, type NamedAlgorithms } from '../../support/counted-calls.js'

const collectives = [...new Set(algorithms.map(({ collective }) => collective))]
const auto: NamedAlgorithms = Object.fromEntries(collectives.map((each) => [each, 'auto']))

/** What the calls on every process sent. */
const countsOn = (fabric: 'local' | 'threads') =>
  run<CallCount[], NamedAlgorithms>(compiledUrl('counted-calls.ts'), {
    ...{ ranks: 4, processes: 4, fabric, machine: parseMachine('torus:dims=4,profile=bluegene-p') },
    ...{ args: auto, detectDeadlock: false },
  })

it('processes that choose for themselves send the same messages on threads as where one thread chooses for all', async () => {
  const counts = await countsOn('threads')
  expect(counts).toEqual(await countsOn('local'))
  expect(counts[0].length).toBe(countedCollectives.length)
})
