import { execArgv } from 'node:process'
import { type TransferListItem, Worker } from 'node:worker_threads'
import { RankweaveError } from '../errors.js'
import type { ThreadsFactory } from '../fabric/threads.js'
import { connectThreads } from '../fabric/threads-connect.js'
import { workerFile } from '../own-files.js'
import { decodeError, encodeError } from './error-record.js'
import { type FromProcess, maxErrorBytes, type ProcessData, type ToProcess } from './threads-protocol.js'
import { type WorldLayout, worldLayout } from './world-layout.js'

type WorldData = ProcessData['world']

/**
 * Runs a world whose processes are worker threads, each of which loads the program for itself.
 *
 * @returns what the ranks' mains returned, in rank order, cloned
 */
export function runThreads<T>(
  program: URL,
  factory: ThreadsFactory,
  world: WorldData,
  signal: AbortSignal | undefined,
): Promise<T[]> {
  const layout = worldLayout(world.ranks, factory.options.nodes, world.ranksPerProcess)
  try {
    structuredClone(world.args)
  } catch (cause) {
    throw new RankweaveError('ERR_CLONE', `run: args cannot be cloned into threads: ${String(cause)}`, {
      cause,
    })
  }
  if (signal?.aborted === true) return Promise.reject(abortedWorld(signal))
  return new Promise((resolve, reject) => {
    new ThreadsWorld(program, factory, world, layout, signal, {
      returned: (results) => resolve(results as T[]),
      failed: reject,
    })
  })
}

/** How a process ended. */
type Outcome =
  | { readonly kind: 'returned'; readonly results: readonly unknown[] }
  | { readonly kind: 'failed' }
  | { readonly kind: 'lost' }

interface Settle {
  returned(results: unknown[]): void
  failed(error: unknown): void
}

/** The workers of one world as the thread that called `run` sees them. */
class ThreadsWorld {
  readonly #workers: readonly Worker[]
  readonly #layout: WorldLayout
  readonly #signal: AbortSignal | undefined
  readonly #settle: Settle
  readonly #outcomes: (Outcome | undefined)[]
  /** What a worker died of, if it said so. */
  readonly #uncaught: unknown[] = []
  #loading: number
  #left: number
  /** The first thing that went wrong, or what process 0, which decides, says it was. */
  #failure: { readonly error: unknown; readonly process: number; readonly lost: boolean } | undefined
  #ended = false

  constructor(
    program: URL,
    factory: ThreadsFactory,
    world: WorldData,
    layout: WorldLayout,
    signal: AbortSignal | undefined,
    settle: Settle,
  ) {
    this.#layout = layout
    this.#signal = signal
    this.#settle = settle
    this.#loading = layout.processes
    this.#left = layout.processes
    this.#outcomes = new Array<Outcome | undefined>(layout.processes).fill(undefined)
    this.#workers = connectThreads(factory.options).map((connection) =>
      startWorker({ kind: 'rankweave process', program: program.href, connection, world }, factory),
    )
    this.#workers.forEach((worker, process) => {
      worker.on('message', (message: FromProcess) => this.#heard(process, message))
      worker.on('messageerror', (error) => this.#ended || this.#fail(process, error))
      worker.on('error', (error) => {
        this.#uncaught[process] = error
      })
      worker.on('exit', (code) => this.#exited(process, code))
    })
    signal?.addEventListener('abort', this.#onAbort)
  }

  #heard(process: number, message: FromProcess): void {
    if (this.#ended) return
    if (message.kind === 'loaded') {
      if (--this.#loading === 0) this.#tellAll({ kind: 'start' })
    } else if (message.kind === 'returned') {
      this.#done(process, message)
    } else {
      this.#fail(process, decodeError(message.error))
    }
  }

  #fail(process: number, error: unknown): void {
    const first = this.#failure
    if (first === undefined || (process === 0 && !first.lost)) this.#failure = { error, process, lost: false }
    // A program that one worker cannot load will not run.
    if (this.#loading > 0) this.#end()
    else this.#done(process, { kind: 'failed' })
  }

  #exited(process: number, code: number): void {
    if (this.#ended || this.#outcomes[process] !== undefined) return
    const cause = this.#uncaught[process]
    const reason = cause === undefined ? `its worker ended with code ${code}` : describe(cause)
    const first = this.#layout.firstRank[process]!
    const end = this.#layout.firstRank[process + 1]!
    const ranks = end === first ? 'without ranks' : `with ranks ${first} to ${end - 1}`
    this.#failure ??= {
      error: new RankweaveError('ERR_PEER_LOST', `process ${process} ${ranks} is lost: ${reason}`, {
        details: { process },
        cause,
      }),
      process,
      lost: true,
    }
    if (this.#loading > 0) {
      this.#end()
      return
    }
    this.#tellAll({ kind: 'lost', process, reason })
    this.#done(process, { kind: 'lost' })
  }

  #done(process: number, outcome: Outcome): void {
    if (this.#outcomes[process] !== undefined) return
    this.#outcomes[process] = outcome
    if (--this.#left === 0) this.#end()
  }

  readonly #onAbort = (): void => {
    if (this.#ended) return
    if (this.#loading > 0) {
      this.#failure ??= { error: abortedWorld(this.#signal!), process: 0, lost: false }
      this.#end()
    } else {
      this.#tellAll({ kind: 'abort', reason: encodeError(this.#signal!.reason, maxErrorBytes) })
    }
  }

  #tellAll(message: ToProcess): void {
    for (const worker of this.#workers) worker.postMessage(message)
  }

  /** Nothing stays behind: what a program left running in its worker ends with the world. */
  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#signal?.removeEventListener('abort', this.#onAbort)
    Promise.all(this.#workers.map((worker) => worker.terminate())).then(
      () => this.#report(),
      (error) => this.#settle.failed(error),
    )
  }

  #report(): void {
    if (this.#failure !== undefined) {
      const { error } = this.#failure
      const bySignal =
        this.#signal?.aborted === true && error instanceof RankweaveError && error.code === 'ERR_ABORTED'
      this.#settle.failed(bySignal ? abortedWorld(this.#signal) : error)
      return
    }
    const results: unknown[] = []
    for (const outcome of this.#outcomes) {
      if (outcome?.kind !== 'returned') continue
      for (const result of outcome.results) results.push(result)
    }
    this.#settle.returned(results)
  }
}

function startWorker(workerData: ProcessData, { workers }: ThreadsFactory): Worker {
  const { process, ports } = workerData.connection
  const options = {
    workerData,
    transferList: ports.filter((port) => port !== null) as TransferListItem[],
    name: `rankweave process ${process}`,
    // Concerns the text this program was started with, and is refused for files.
    execArgv: execArgv.filter((flag) => !flag.startsWith('--input-type')),
    ...(workers.resourceLimits === undefined ? {} : { resourceLimits: workers.resourceLimits }),
  }
  return new Worker(workerFile, options)
}

function abortedWorld(signal: AbortSignal): RankweaveError {
  const reason: unknown = signal.reason
  const said = reason instanceof Error ? reason.message : String(reason)
  return new RankweaveError('ERR_ABORTED', `the world was ended by its signal: ${said}`, { cause: reason })
}

function describe(cause: unknown): string {
  return cause instanceof Error ? `uncaught ${cause.name}: ${cause.message}` : `uncaught ${String(cause)}`
}
