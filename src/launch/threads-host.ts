import { parentPort, workerData } from 'node:worker_threads'
import { decodeError, encodeError } from '../comm/process/error-record.js'
import { worldLayout } from '../comm/process/world-layout.js'
import { emptyLoop } from '../comm/world/empty-loop.js'
import { hostSession, type Main, type RunningWorld } from '../comm/world/world.js'
import { openThreads } from '../fabric/threads/threads.js'
import { flushedOutput, loadHosted, notCloneable } from './processes/hosted-program.js'
import {
  type FromProcess,
  maxErrorBytes,
  type ProcessData,
  type ToProcess,
} from './processes/process-protocol.js'
import { adoptStdin } from './processes/worker-stdin.js'

/** Hosts one process of a world in this worker thread, until the world has ended. */
export async function hostProcess(): Promise<void> {
  const port = parentPort!
  let running: RunningWorld | undefined
  const { program, connection, world } = workerData as ProcessData
  const post = (message: FromProcess) => port.postMessage(message)
  const interrupt = new AbortController()
  const session = openThreads(connection, (key, members, contribution) =>
    post({ kind: 'decide', key, members, contribution }),
  )
  if (connection.process === 0) adoptStdin()
  const started = new Promise<void>((resolve) => {
    port.on('message', (message: ToProcess) => {
      switch (message.kind) {
        case 'start':
          resolve()
          break
        case 'abort':
          interrupt.abort(decodeError(message.reason))
          break
        case 'lost':
          session.lose(message.process, message.reason)
          break
        case 'decision':
          session.decided(message.key, message.decision)
          break
        case 'diagnose':
          post({ kind: 'state', query: message.query, state: running?.states()[0] ?? null })
      }
    })
  })
  let main: Main<unknown, unknown>
  try {
    main = await loadHosted(program, port)
  } catch (error) {
    post({ kind: 'failed', error: encodeError(error, maxErrorBytes) })
    return
  }
  const firstRank = worldLayout(world.ranks, connection.nodes, world.ranksPerProcess).firstRank[
    connection.process
  ]!
  post({ kind: 'loaded' })
  await started
  // From here on the session keeps this thread alive; the port must not, so that an empty event loop is noticed.
  port.unref()
  process.on('beforeExit', () => {
    if (running !== undefined) running.fail(emptyLoop(running))
  })
  try {
    const results = await hostSession(session, main, {
      ...world,
      signal: interrupt.signal,
      onFailed: (error, afterSurvived) =>
        post({ kind: 'failing', error: encodeError(error, maxErrorBytes), afterSurvived }),
      mayRunEmpty: true,
      onStart: (world) => {
        running = world
      },
    })
    await flushedOutput()
    try {
      post({ kind: 'returned', results, without: running!.without })
    } catch (cause) {
      throw notCloneable(results, firstRank, structuredClone, cause)
    }
  } catch (error) {
    await flushedOutput()
    post({ kind: 'failed', error: encodeError(error, maxErrorBytes) })
  }
}
