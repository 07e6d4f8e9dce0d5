import { type TransferListItem, Worker, type WorkerOptions } from 'node:worker_threads'
import type { ThreadsFactory } from '../fabric/threads/threads.js'
import { connectThreads } from '../fabric/threads/threads-connect.js'
import { workerFile } from '../package-paths.js'
import { entryFile } from './processes/entry-file.js'
import type { ProcessData } from './processes/process-protocol.js'

// `node:process` is not imported: importing it opens standard input, which makes it non-blocking for all.
const { execArgv } = process

const worker = { own: workerFile, name: 'worker.js', option: 'threads({ workerUrl })' }

/** Starts all workers of a world, or none. */
export function startWorkers(
  program: URL,
  factory: ThreadsFactory,
  world: ProcessData['world'],
): readonly Worker[] {
  const entry = entryFile(program, factory.workers.workerUrl, worker)
  const started: Worker[] = []
  try {
    for (const connection of connectThreads(factory.options)) {
      started.push(
        startWorker(entry, { kind: 'rankweave process', program: program.href, connection, world }, factory),
      )
    }
    return started
  } catch (error) {
    for (const worker of started) void worker.terminate()
    throw error
  }
}

function startWorker(entry: URL, workerData: ProcessData, { workers }: ThreadsFactory): Worker {
  const { process, ports } = workerData.connection
  const options: WorkerOptions = {
    workerData,
    transferList: ports.filter((port) => port !== null) as TransferListItem[],
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
