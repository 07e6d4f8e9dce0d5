import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fabricConformance } from '../../src/conformance/fabric-conformance.js'
import { threads } from '../../src/fabric/threads/threads.js'
import { compiled } from '../support/compiled.js'
import type { CaseAnswer, CaseRequest } from '../support/threads-case.js'
import { connectionsOfCase } from '../support/threads-sessions.js'

const entry = compiled('threads-case.ts')

/** The next message of a worker. */
function answerOf(worker: Worker): Promise<CaseAnswer> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (answer) => {
      worker.off('error', reject)
      resolve(answer)
    })
  })
}

/** Every process of every case in its own worker; the cases share the workers. */
for (const processes of [1, 3]) {
  describe(`threads: ${processes} processes in as many workers`, () => {
    let workers: Worker[] = []
    beforeAll(async () => {
      workers = Array.from({ length: processes }, () => new Worker(entry))
      await Promise.all(workers.map(answerOf))
    })
    afterAll(async () => {
      await Promise.all(workers.map((worker) => worker.terminate()))
    })

    for (const ringBytes of [4096, undefined]) {
      const options = { processes, ...(ringBytes === undefined ? {} : { ringBytes }) }
      for (const { name } of fabricConformance(threads(options))) {
        it(`${name} (rings of ${ringBytes ?? 'default'} bytes)`, async () => {
          const answers = connectionsOfCase(options).map((connections, process) => {
            const answer = answerOf(workers[process])
            const ports = connections.flatMap((each) => each.ports.filter((port) => port !== null))
            const expected = { kind: 'threads', processes, places: 'threads' } as const
            const request: CaseRequest = { name, connections, options: { expected } }
            workers[process].postMessage(request, ports)
            return answer
          })
          for (const answer of await Promise.all(answers)) expect(answer).toEqual({ kind: 'done' })
        })
      }
    }
  })
}
