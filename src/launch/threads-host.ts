import { workerData } from 'node:worker_threads'
import { givenOptions } from '../base/option-table.js'
import { bindThisThread } from '../fabric/threads/core-binding.js'
import { ThreadsSession } from '../fabric/threads/threads.js'
import { worldLayout } from '../messages/process/world-layout.js'
import type { UserProgram } from '../world/user-program.js'
import { hostSession } from '../world/world.js'
import { HostedPart, loadHere, notCloneable } from './processes/hosted-part.js'
import { installMailboxDesigns, withCallRecords } from './processes/optional-parts.js'
import type { FromProcess, ProcessData, ToProcess } from './processes/process-protocol.js'

/** Hosts one process of a world in this worker thread, until the world has ended. */
export async function hostProcess(): Promise<void> {
  installMailboxDesigns()
  const { program, port, connection, world: data } = workerData as ProcessData
  const { hosted, ...world } = data
  const post = (message: FromProcess) => port.postMessage(message)
  const part = new HostedPart(port, post)
  const session = new ThreadsSession(connection, (key, members, contribution) =>
    post({ kind: 'decide', key, members, contribution }),
  )
  const started = new Promise<void>((resolve) => {
    port.on('message', (message: ToProcess) => {
      switch (message.kind) {
        case 'start':
          resolve()
          break
        case 'lost':
          session.lose(message.process, message.reason)
          break
        case 'decision':
          session.decided(message.key, message.decision)
          break
        default:
          part.onMessage(message)
      }
    })
  })
  // The module that opens standard input takes modules of Node that the others do not need.
  if (connection.process === 0) (await import('./processes/worker-stdin.js')).adoptStdin()
  let loaded: UserProgram<unknown, unknown>
  try {
    if (connection.processors !== null) await bindThisThread(connection.processors)
    loaded = await withCallRecords(await loadHere(program, port, givenOptions({ hosted })), world.online)
  } catch (error) {
    part.failed(error)
    return
  }
  const firstRank = worldLayout(world.ranks, connection.nodes, world.ranksPerProcess).firstRank[
    connection.process
  ]
  await part.run(
    started,
    world,
    (options) => hostSession(session, loaded, options),
    (results, without) => {
      try {
        post({ kind: 'returned', results, without })
      } catch (cause) {
        throw notCloneable(results, firstRank, structuredClone, cause)
      }
    },
  )
}
