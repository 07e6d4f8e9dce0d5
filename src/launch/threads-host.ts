import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { decodeError, encodeError } from '../comm/process/error-record.js'
import { worldLayout } from '../comm/process/world-layout.js'
import { emptyLoop } from '../comm/world/empty-loop.js'
import { hostSession, type Main, type RunningWorld } from '../comm/world/world.js'
import { RankweaveError } from '../errors.js'
import { openThreads } from '../fabric/threads/threads.js'
import { loadDefault, programError } from './load-program.js'
import { type FromProcess, maxErrorBytes, type ProcessData, type ToProcess } from './threads-protocol.js'
import { adoptStdin } from './worker-stdin.js'

/** Hosts one process of a world in this worker thread, until the world has ended. */
export async function hostProcess(): Promise<void> {
  const port = parentPort!
  let running: RunningWorld | undefined
  const { program, connection, world } = workerData as ProcessData
  const post = (message: FromProcess) => port.postMessage(message)
  const interrupt = new AbortController()
  const session = openThreads(connection)
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
        case 'diagnose':
          post({ kind: 'state', query: message.query, state: running?.states()[0] ?? null })
      }
    })
  })
  let main: Main<unknown, unknown>
  try {
    main = await load(program, port)
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
      onFailed: (error) => post({ kind: 'failing', error: encodeError(error, maxErrorBytes) }),
      mayRunEmpty: true,
      onStart: (world) => {
        running = world
      },
    })
    await flushed()
    returned(results, firstRank, post)
  } catch (error) {
    await flushed()
    post({ kind: 'failed', error: encodeError(error, maxErrorBytes) })
  }
}

/** Loads the program. @throws ERR_PROGRAM when it waits while nothing is left that could wake it */
async function load(program: string, port: MessagePort): Promise<Main<unknown, unknown>> {
  let onEmpty: (() => void) | undefined
  const empty = new Promise<never>((_, reject) => {
    const error = programError(
      program,
      `${program} failed to load: it waits, and nothing is left that could wake it`,
    )
    // One turn later: a program that loads another may have a handler of its own for this.
    onEmpty = () => setImmediate(reject, error)
    process.once('beforeExit', onEmpty)
  })
  // The parent alone must not keep this thread alive now.
  port.unref()
  try {
    return await Promise.race([loadDefault<unknown, unknown>(program), empty])
  } finally {
    port.ref()
    process.off('beforeExit', onEmpty!)
  }
}

/** Resolves when the parent has all output of this thread. */
async function flushed(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()))
  }
}

/** Sends the results to the calling thread. @throws ERR_CLONE when one cannot be cloned */
function returned(
  results: readonly unknown[],
  firstRank: number,
  post: (message: FromProcess) => void,
): void {
  try {
    post({ kind: 'returned', results })
  } catch (cause) {
    const index = results.findIndex((result) => !isCloneable(result))
    throw new RankweaveError(
      'ERR_CLONE',
      `the value that rank ${firstRank + index} returned cannot be cloned into another thread: ${String(cause)}`,
      { details: { rank: firstRank + index }, cause },
    )
  }
}

function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value)
    return true
  } catch {
    return false
  }
}
