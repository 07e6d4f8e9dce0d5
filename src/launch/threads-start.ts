import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type TransferListItem, Worker, type WorkerOptions } from 'node:worker_threads'
import { RankweaveError } from '../errors.js'
import type { ThreadsFactory } from '../fabric/threads/threads.js'
import { connectThreads } from '../fabric/threads/threads-connect.js'
import { isPackaged, workerFile } from '../package-paths.js'
import type { ProcessData } from './threads-protocol.js'

// Not imported: a module that imports `node:process` opens standard input, which makes it non-blocking for all.
const { execArgv } = process

/** Starts all workers of a world, or none. */
export function startWorkers(
  program: URL,
  factory: ThreadsFactory,
  world: ProcessData['world'],
): readonly Worker[] {
  const entry = workerEntry(program, factory.workers.workerUrl)
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

/**
 * The entry of workers: the given one, else this package's; where an application bundles this code, that of the package
 * that the program, or the folder this process runs in, finds.
 *
 * @throws ERR_WORKER when there is none
 */
function workerEntry(program: URL, given: URL | undefined): URL {
  if (given === undefined && isPackaged()) return workerFile
  const candidates = given === undefined ? [program, pathToFileURL('./')].flatMap(installedWorker) : [given]
  const found = candidates.find((file) => existsSync(file))
  if (found !== undefined) return found
  throw new RankweaveError(
    'ERR_WORKER',
    `threads: ${given === undefined ? 'the file that workers start from is not found, since this library is bundled into the application' : `there is no file '${given.href}'`}: ` +
      "bundle 'rankweave/dist/worker.js' as an entry of its own, and pass its URL: threads({ workerUrl })",
  )
}

/** The worker of the package that a module finds under the name of this one. */
function installedWorker(from: URL): URL[] {
  try {
    const manifest = createRequire(from).resolve('rankweave/package.json')
    return [new URL('./dist/worker.js', pathToFileURL(manifest))]
  } catch {
    return []
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
  // Applies to a program given as text, and is refused for files. Otherwise a worker inherits all flags.
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
