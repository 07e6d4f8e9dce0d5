import { parentPort } from 'node:worker_threads'
import type { ThreadsConnection } from '../../src/fabric/threads-connect.js'
import { caseOf } from './threads-sessions.js'

/** What the parent asks for, and what it hears. */
export interface CaseRequest {
  readonly name: string
  readonly connections: readonly ThreadsConnection[]
}
export type CaseAnswer = { readonly kind: 'ready' } | { readonly kind: 'done'; readonly error?: string }

const port = parentPort!
const say = (answer: CaseAnswer) => port.postMessage(answer)

port.on('message', ({ name, connections }: CaseRequest) => {
  caseOf(connections, name)
    .run()
    .then(
      () => say({ kind: 'done' }),
      (error: Error) => say({ kind: 'done', error: error.message }),
    )
})
say({ kind: 'ready' })
