import { run } from 'rankweave'
import { expect, it } from 'vitest'
import { algorithms } from '../../../src/collective/algorithms.js'
import { parseMachine } from '../../../src/machine/machine-text.js'
import { compiledUrl } from '../../support/compiled.js'
import { type CallCount, countedCollectives, type NamedAlgorithms } from '../../support/counted-calls.js'

const collectives = [...new Set(algorithms.map(({ collective }) => collective))]
const auto: NamedAlgorithms = Object.fromEntries(collectives.map((each) => [each, 'auto']))

/**
 * The messages of the calls on every process, but for those of a bcast, whose head takes another way on each fabric, for
 * named algorithms, too. Headers of long messages differ between fabrics, so bytes do.
 */
async function messagesOn(fabric: 'local' | 'threads') {
  const counts = await run<CallCount[], NamedAlgorithms>(compiledUrl('counted-calls.ts'), {
    ...{ ranks: 4, processes: 4, fabric, machine: parseMachine('torus:dims=4,profile=bluegene-p') },
    ...{ args: auto, detectDeadlock: false },
  })
  return counts.map((ofProcess) =>
    ofProcess.flatMap(({ call, frames }) => (call.startsWith('bcast') ? [] : [{ call, frames }])),
  )
}

it('processes that choose for themselves send the same messages on threads as where one thread chooses for all', async () => {
  const messages = await messagesOn('threads')
  expect(messages).toEqual(await messagesOn('local'))
  expect(messages[0].length).toBeGreaterThan(countedCollectives.length)
})
