import type { Worker } from 'node:worker_threads'
import { type Clock, realClock } from '../base/clock.js'
import { decodeError, encodeError } from '../comm/process/error-record.js'
import { type WorldLayout, worldLayout } from '../comm/process/world-layout.js'
import { abortedWorld } from '../comm/world/aborted-world.js'
import { describeWorld } from '../comm/world/diagnosis-text.js'
import { rangesText } from '../comm/world/rank-ranges.js'
import { RankweaveError } from '../errors.js'
import type { ThreadsFactory } from '../fabric/threads/threads.js'
import { type ReportOptions, ReportTriggers } from './report-triggers.js'
import { StateQuery } from './state-query.js'
import { type FromProcess, maxErrorBytes, type ProcessData, type ToProcess } from './threads-protocol.js'
import { startWorkers } from './threads-start.js'
import { dropOutputOfBrokenStreams } from './worker-output.js'

type WorldData = ProcessData['world']

export interface ThreadsRunOptions {
  readonly signal?: AbortSignal
  readonly report?: ReportOptions
  /** Default: the real one. */
  readonly clock?: Clock
}

/** How long a world that has failed waits for processes that are not notified, since they run without awaiting anything. */
const graceMs = 5000
/**
 * How long a world that ends before it has started waits for workers that still load. A worker that is terminated while
 * Node's loader reads a file leaves that file open for good.
 */
const loadingGraceMs = 5000

/**
 * Runs a world whose processes are worker threads, each of which loads the program for itself.
 *
 * @returns the values that the ranks' mains returned, in rank order, cloned
 */
export function runThreads<T>(
  program: URL,
  factory: ThreadsFactory,
  world: WorldData,
  options: ThreadsRunOptions = {},
): Promise<T[]> {
  const layout = worldLayout(world.ranks, factory.options.nodes, world.ranksPerProcess)
  try {
    structuredClone(world.args)
  } catch (cause) {
    throw new RankweaveError('ERR_CLONE', `run: args cannot be cloned into threads: ${String(cause)}`, {
      cause,
    })
  }
  const { signal } = options
  if (signal?.aborted === true) return Promise.reject(abortedWorld(signal.reason))
  return new Promise((resolve, reject) => {
    new ThreadsWorld(startWorkers(program, factory, world), layout, options, {
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
  readonly #clock: Clock
  readonly #settle: Settle
  readonly #queries: StateQuery
  readonly #triggers: ReportTriggers
  readonly #releaseOutput: () => void
  readonly #outcomes: (Outcome | undefined)[]
  /** What a worker died of, if it said so. */
  readonly #uncaught: unknown[] = []
  /** Processes that have not loaded the program yet, nor failed to. */
  readonly #loading: Set<number>
  #left: number
  /** The first thing that went wrong, or what process 0, which decides, says it was. */
  #failure: { readonly error: unknown; readonly process: number; readonly lost: boolean } | undefined
  #endGrace: (() => void) | undefined
  /** Once the world has ended: called when no worker loads any more. */
  #onLoaded: (() => void) | undefined
  /** Processes that have reported that the world has failed. */
  readonly #aware = new Set<number>()
  /** Processes that did not react within the grace period. */
  #unresponsive: readonly number[] = []
  #ended = false

  constructor(
    workers: readonly Worker[],
    layout: WorldLayout,
    { signal, report, clock = realClock }: ThreadsRunOptions,
    settle: Settle,
  ) {
    this.#layout = layout
    this.#signal = signal
    this.#clock = clock
    this.#settle = settle
    this.#loading = new Set(workers.keys())
    this.#left = layout.processes
    this.#outcomes = new Array<Outcome | undefined>(layout.processes).fill(undefined)
    this.#workers = workers
    this.#queries = new StateQuery(clock, (process, query) =>
      workers[process]!.postMessage({ kind: 'diagnose', query } satisfies ToProcess),
    )
    this.#triggers = new ReportTriggers(report, clock, () => this.#describe())
    this.#releaseOutput = dropOutputOfBrokenStreams(workers)
    this.#workers.forEach((worker, process) => {
      worker.on('message', (message: FromProcess) => {
        this.#receive(process, message)
        if (message.kind === 'loaded' || message.kind === 'failed') this.#doneLoading(process)
      })
      worker.on('messageerror', (error) => this.#ended || this.#fail(process, error))
      worker.on('error', (error) => {
        this.#uncaught[process] = error
      })
      worker.on('exit', (code) => {
        this.#exited(process, code)
        this.#doneLoading(process)
      })
    })
    signal?.addEventListener('abort', this.#onAbort)
  }

  #receive(process: number, message: FromProcess): void {
    if (this.#ended) return
    switch (message.kind) {
      case 'loaded':
        this.#loading.delete(process)
        if (this.#loading.size === 0) this.#notifyAll({ kind: 'start' })
        break
      case 'state':
        this.#queries.answered(process, message.query, message.state ?? undefined)
        break
      case 'failing':
        this.#aware.add(process)
        this.#note(process, decodeError(message.error))
        this.#startGrace()
        break
      case 'returned':
        this.#done(process, message)
        break
      case 'failed':
        this.#fail(process, decodeError(message.error))
    }
  }

  #fail(process: number, error: unknown): void {
    this.#note(process, error)
    // A program that one worker cannot load cannot run.
    if (this.#loading.size > 0) {
      this.#end()
      return
    }
    this.#startGrace()
    this.#done(process, { kind: 'failed' })
  }

  #note(process: number, error: unknown): void {
    const first = this.#failure
    if (first === undefined || (process === 0 && !first.lost)) this.#failure = { error, process, lost: false }
  }

  #exited(process: number, code: number): void {
    this.#queries.gone(process)
    if (this.#ended || this.#outcomes[process] !== undefined) return
    const cause = this.#uncaught[process]
    const reason = cause === undefined ? `its worker ended with code ${code}` : describe(cause)
    const message = `${this.#named(process)} is lost: ${reason}`
    this.#failure ??= {
      error: new RankweaveError('ERR_PEER_LOST', message, { details: { process }, cause }),
      process,
      lost: true,
    }
    if (this.#loading.size > 0) {
      this.#end()
      return
    }
    this.#notifyAll({ kind: 'lost', process, reason })
    this.#done(process, { kind: 'lost' })
  }

  #done(process: number, outcome: Outcome): void {
    if (this.#outcomes[process] !== undefined) return
    this.#outcomes[process] = outcome
    if (--this.#left === 0) this.#end()
  }

  readonly #onAbort = (): void => {
    if (this.#ended) return
    if (this.#loading.size > 0) {
      this.#failure ??= { error: abortedWorld(this.#signal!.reason), process: 0, lost: false }
      this.#end()
    } else {
      this.#notifyAll({ kind: 'abort', reason: encodeError(this.#signal!.reason, maxErrorBytes) })
      this.#startGrace()
    }
  }

  /** The world has failed. A process that runs without awaiting anything does not notice, and is terminated in the end. */
  #startGrace(): void {
    this.#endGrace ??= this.#clock.later(graceMs, () => {
      this.#unresponsive = this.#outcomes.flatMap((outcome, process) =>
        outcome === undefined && !this.#aware.has(process) ? [process] : [],
      )
      if (this.#signal?.aborted === true) {
        this.#failure ??= { error: abortedWorld(this.#signal.reason), process: 0, lost: false }
      }
      this.#end()
    })
  }

  #notifyAll(message: ToProcess): void {
    for (const worker of this.#workers) worker.postMessage(message)
  }

  async #describe(): Promise<string> {
    const asked = this.#outcomes.flatMap((outcome, process) => (outcome === undefined ? [process] : []))
    const states = await this.#queries.ask(asked)
    const lost = this.#outcomes.flatMap((outcome, process) => (outcome?.kind === 'lost' ? [process] : []))
    return describeWorld(this.#layout, states, { loading: this.#loading.size > 0, lost })
  }

  /** Nothing stays behind: anything that a program left running in its worker ends with the world. */
  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#endGrace?.()
    this.#triggers.stop()
    this.#queries.stop()
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#loaded()
      .then(() => Promise.all(this.#workers.map((worker) => worker.terminate())))
      .then(
        () => this.#report(),
        (error) => this.#settle.failed(error),
      )
      .finally(this.#releaseOutput)
  }

  /** Resolves when no worker loads any more, or one takes too long. */
  #loaded(): Promise<void> {
    if (this.#loading.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const stopClock = this.#clock.later(loadingGraceMs, resolve)
      this.#onLoaded = () => {
        stopClock()
        resolve()
      }
    })
  }

  #doneLoading(process: number): void {
    if (this.#loading.delete(process) && this.#loading.size === 0) this.#onLoaded?.()
  }

  #report(): void {
    if (this.#failure !== undefined) {
      const { error } = this.#failure
      const bySignal =
        this.#signal?.aborted === true && error instanceof RankweaveError && error.code === 'ERR_ABORTED'
      this.#settle.failed(this.#withUnresponsive(bySignal ? abortedWorld(this.#signal.reason) : error))
      return
    }
    const results: unknown[] = []
    for (const outcome of this.#outcomes) {
      if (outcome?.kind !== 'returned') continue
      for (const result of outcome.results) results.push(result)
    }
    this.#settle.returned(results)
  }

  /** Adds to the error, which is a copy, the processes that had to be terminated. */
  #withUnresponsive(error: unknown): unknown {
    if (this.#unresponsive.length === 0 || !(error instanceof Error)) return error
    const who = this.#unresponsive.map((process) => this.#named(process)).join(', ')
    error.message += `; terminated ${graceMs / 1000} s later because it ran without awaiting anything: ${who}`
    return error
  }

  #named(process: number): string {
    const first = this.#layout.firstRank[process]!
    const end = this.#layout.firstRank[process + 1]!
    return `process ${process} ${end === first ? 'without ranks' : `with ${rangesText([first, end - 1])}`}`
  }
}

function describe(cause: unknown): string {
  return cause instanceof Error ? `uncaught ${cause.name}: ${cause.message}` : `uncaught ${String(cause)}`
}
