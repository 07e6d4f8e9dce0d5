import { parentPort, workerData } from 'node:worker_threads'
import { RankweaveError } from '../errors.js'
import { openThreads } from '../fabric/threads.js'
import { decodeError, encodeError } from './error-record.js'
import { loadDefault } from './load-program.js'
import { type FromProcess, maxErrorBytes, type ProcessData, type ToProcess } from './threads-protocol.js'
import { hostSession, type Main } from './world.js'
import { worldLayout } from './world-layout.js'

/** Hosts one process of a world in this worker thread, until the world has ended. */
export async function hostProcess(): Promise<void> {
  const port = parentPort!
  const { program, connection, world } = workerData as ProcessData
  const say = (message: FromProcess) => port.postMessage(message)
  let main: Main<unknown, unknown>
  try {
    main = await loadDefault(program)
  } catch (error) {
    say({ kind: 'failed', error: encodeError(error, maxErrorBytes) })
    return
  }
  const interrupt = new AbortController()
  const session = openThreads(connection)
  const started = new Promise<void>((resolve) => {
    port.on('message', (message: ToProcess) => {
      if (message.kind === 'start') resolve()
      else if (message.kind === 'abort') interrupt.abort(decodeError(message.reason))
      else session.lose(message.process, message.reason)
    })
  })
  const firstRank = worldLayout(world.ranks, connection.nodes, world.ranksPerProcess).firstRank[
    connection.process
  ]!
  say({ kind: 'loaded' })
  await started
  // From here on the session keeps this thread alive, and what the user's code keeps must be told from it.
  port.unref()
  try {
    const results = await hostSession(session, main, { ...world, signal: interrupt.signal })
    await flushed()
    returned(results, firstRank, say)
  } catch (error) {
    await flushed()
    say({ kind: 'failed', error: encodeError(error, maxErrorBytes) })
  }
}

/** Resolves when the parent has everything that was written here. */
async function flushed(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()))
  }
}

/** The results' last way, or why they cannot go it. */
function returned(results: readonly unknown[], firstRank: number, say: (message: FromProcess) => void): void {
  try {
    say({ kind: 'returned', results })
  } catch (cause) {
    const index = results.findIndex((result) => !isCloneable(result))
    throw new RankweaveError(
      'ERR_CLONE',
      `what rank ${firstRank + index} returned cannot leave its thread: ${String(cause)}`,
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
