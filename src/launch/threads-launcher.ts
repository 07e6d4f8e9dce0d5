import { EventEmitter } from 'node:events'
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type TransferListItem,
  Worker,
  type WorkerOptions,
} from 'node:worker_threads'
import { givenOptions } from '../base/option-table.js'
import { errorCodes, RankweaveError } from '../errors.js'
import { restoreHeapFlags } from '../fabric/process-heap.js'
import type { ThreadsFactory } from '../fabric/threads/threads.js'
import { connectThreads } from '../fabric/threads/threads-connect.js'
import { worldLayout } from '../messages/process/world-layout.js'
import { workerFile } from '../package-paths.js'
import { entryFile } from './processes/entry-file.js'
import { dropOutputOfBrokenStreams, type OutputStreams } from './processes/output-streams.js'
import type { FromProcess, ProcessData, ToProcess } from './processes/process-protocol.js'
import type { Launcher } from './processes/session-launcher.js'
import {
  type FollowOptions,
  followWorld,
  requireCloneable,
  requireModule,
  type StartedProcess,
} from './processes/started-world.js'

/** Launches on worker threads, each of which loads the program itself. */
export const launchThreads: Launcher = async (factory, { program, hosted, world, signal, report }) =>
  runThreads(
    requireModule(program, factory.kind, 'threads'),
    factory as ThreadsFactory,
    { ...world, hosted },
    {
      ...givenOptions({ signal, report }),
    },
  )

/**
 * Runs a world whose processes are worker threads.
 *
 * @returns the values that the ranks' mains returned, in rank order, cloned
 * @throws ERR_WORLD, ERR_CLONE before a worker is started
 */
export function runThreads<T>(
  program: URL,
  factory: ThreadsFactory,
  world: ProcessData['world'],
  options: FollowOptions = {},
): Promise<T[]> {
  const layout = worldLayout(world.ranks, factory.options.nodes, world.ranksPerProcess)
  requireCloneable(world.args, 'threads')
  const start = () => {
    const workers = startWorkers(program, factory, world)
    const releaseOutput = dropOutputOfBrokenStreams(workers)
    const release = () => {
      releaseOutput()
      // A worker may have been terminated during a collection.
      restoreHeapFlags()
    }
    return { processes: workers, noun: 'worker', release }
  }
  return followWorld(start, layout, options)
}

// `node:process` is not imported: importing it opens standard input, which makes it non-blocking for all.
const { execArgv } = process

const worker = { own: workerFile, name: 'worker.js', option: 'threads({ workerUrl })' }

/** Starts all workers of a world, or none. */
export function startWorkers(
  program: URL,
  factory: ThreadsFactory,
  world: ProcessData['world'],
): readonly StartedWorker[] {
  const entry = entryFile(program, factory.workers.workerUrl, worker)
  const started: StartedWorker[] = []
  try {
    for (const connection of connectThreads(factory.options)) {
      const { port1, port2 } = new MessageChannel()
      const data = {
        kind: 'rankweave process',
        program: program.href,
        port: port2,
        connection,
        world,
      } as const
      started.push(new StartedWorker(startWorker(entry, data, factory), port1))
    }
    return started
  } catch (error) {
    for (const each of started) void each.terminate()
    throw error
  }
}

/**
 * A worker thread that hosts one process of a world, as the thread that started it sees it. They talk over a channel of
 * their own, since the program may use `parentPort`: it may close it, or remove its listeners.
 */
class StartedWorker implements StartedProcess, OutputStreams {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #events = new EventEmitter()

  constructor(worker: Worker, port: MessagePort) {
    this.#worker = worker
    this.#port = port
    port.on('message', (message: FromProcess) => this.#events.emit('message', message))
    port.on('messageerror', (error: Error) => this.#events.emit('messageerror', error))
    // The worker alone keeps the event loop alive.
    port.unref()
    worker.on('error', (error) => this.#events.emit('error', asThrown(error)))
    worker.once('exit', (code) => {
      this.#receiveRest()
      port.close()
      this.#events.emit('exit', code)
    })
  }

  get stdout() {
    return this.#worker.stdout
  }

  get stderr() {
    return this.#worker.stderr
  }

  postMessage(message: ToProcess): void {
    this.#port.postMessage(message)
  }

  on(event: 'message', listener: (message: FromProcess) => void): unknown
  on(event: 'messageerror' | 'error', listener: (error: Error) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
  on(event: string, listener: (value: never) => void): unknown {
    return this.#events.on(event, listener as (value: unknown) => void)
  }

  terminate(): Promise<unknown> {
    return this.#worker.terminate()
  }

  /** Emits what the worker posted before it ended: the notice of its end may overtake it. */
  #receiveRest(): void {
    for (;;) {
      try {
        const received = receiveMessageOnPort(this.#port) as { readonly message: FromProcess } | undefined
        if (received === undefined) return
        this.#events.emit('message', received.message)
      } catch (error) {
        this.#events.emit('messageerror', error)
      }
    }
  }
}

/** Returns what a worker did not catch as it was thrown there: Node copies the properties of an error, not its class. */
function asThrown(error: Error): Error {
  const { name, code, message, details, cause, stack } = error as RankweaveError
  if (name !== RankweaveError.name || !errorCodes.includes(code)) return error
  const own = new RankweaveError(code, message, { details, cause })
  if (stack !== undefined) own.stack = stack
  return own
}

function startWorker(entry: URL, workerData: ProcessData, { workers }: ThreadsFactory): Worker {
  const { process, ports } = workerData.connection
  const transferred = [workerData.port, ...ports.filter((port) => port !== null)]
  const options: WorkerOptions = {
    workerData,
    transferList: transferred as TransferListItem[],
    name: `rankweave process ${process}`,
    ...(workers.resourceLimits === undefined ? {} : { resourceLimits: workers.resourceLimits }),
  }
  // The flag applies to a program given as text, and is refused for files. Otherwise a worker inherits all flags.
  const own = execArgv.filter((flag) => !flag.startsWith('--input-type'))
  if (own.length === execArgv.length) return new Worker(entry, options)
  try {
    return new Worker(entry, { ...options, execArgv: own })
  } catch (error) {
    // Flags of the whole process, such as --max-old-space-size, are refused by name, and hold for its threads anyway.
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_WORKER_INVALID_EXEC_ARGV') throw error
    return new Worker(entry, { ...options, execArgv: own.filter((flag) => !message.includes(flag)) })
  }
}
