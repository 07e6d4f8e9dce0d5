import { parentPort } from 'node:worker_threads'
import type { FabricConformanceOptions } from '../../src/conformance/fabric-conformance.js'
import type { ThreadsConnection } from '../../src/fabric/threads/threads-connect.js'
import { caseOf } from './threads-sessions.js'

/** What the parent asks for, and what it hears. */
export interface CaseRequest {
  readonly name: string
  readonly connections: readonly ThreadsConnection[]
  readonly options: FabricConformanceOptions
}
export type CaseAnswer = { readonly kind: 'ready' } | { readonly kind: 'done'; readonly error?: string }

const port = parentPort!
const say = (answer: CaseAnswer) => port.postMessage(answer)

port.on('message', ({ name, connections, options }: CaseRequest) => {
  caseOf(connections, name, options)
    .run()
    .then(
      () => say({ kind: 'done' }),
      (error: Error) => say({ kind: 'done', error: error.message }),
    )
})
say({ kind: 'ready' })
