import { describe, it } from 'vitest'
import { fabricConformance } from '../../src/conformance/fabric-conformance.js'
import { threads } from '../../src/fabric/threads/threads.js'
import { caseOf, connectionsOfCase } from '../support/threads-sessions.js'

/** The smallest rings there are, which overflow all the time, and the default. */
const ringSizes = [4096, undefined]

for (const processes of [1, 2, 5]) {
  for (const ringBytes of ringSizes) {
    describe(`threads: ${processes} processes in one thread, rings of ${ringBytes ?? 'default'} bytes`, () => {
      const options = { processes, ...(ringBytes === undefined ? {} : { ringBytes }) }
      const expected = { kind: 'threads', processes, places: 'one thread' } as const
      for (const { name } of fabricConformance(threads(options))) {
        it(name, async () => {
          await Promise.all(
            connectionsOfCase(options).map((connections) => caseOf(connections, name, { expected }).run()),
          )
        })
      }
    })
  }
}
