import { describe, it } from 'vitest'
import { fabricConformance } from '../../../src/conformance/fabric-conformance.js'
import { type MemoryWorldOptions, memoryFactories } from '../../support/memory-membership.js'
import { isSoak } from '../../support/soak.js'

/** The cases of the contract, each run by all processes of one world at a time. */
function conforms(processes: number, options: MemoryWorldOptions = {}): void {
  const perProcess = memoryFactories(processes, options).map((factory) =>
    fabricConformance(factory, { expected: { kind: 'websocket', processes, places: 'one thread' } }),
  )
  for (const [n, { name }] of perProcess[0].entries()) {
    it(name, async () => {
      await Promise.all(perProcess.map((cases) => cases[n].run()))
    })
  }
}

/** What soak runs besides. */
const more = isSoak

for (const processes of more ? [1, 2, 4] : [4]) {
  describe(`${processes} processes over sockets`, () => conforms(processes))
}

describe('2 processes through the relay', () => conforms(2, { address: () => null }))

if (more) {
  describe('3 processes, one of which cannot be dialed', () =>
    conforms(3, { address: (process, url) => (process === 1 ? null : url) }))
}
