import { abortedWorld } from '../../base/abort.js'
import { type Clock, realClock } from '../../base/clock.js'
import { causeText, isRankweaveError, RankweaveError } from '../../errors.js'
import { Decisions } from '../../fabric/authority.js'
import { decodeError, encodeError } from '../../messages/process/error-record.js'
import type { WorldLayout } from '../../messages/process/world-layout.js'
import type { ProcessState } from '../../world/diagnosis.js'
import { rangesText } from '../../world/diagnosis.js'
import { describeWorld } from '../../world/diagnosis-text.js'
import { endGraceMs, type FromProcess, maxErrorBytes, type ToProcess } from './process-protocol.js'
import { type ReportOptions, ReportTriggers } from './report-triggers.js'

export interface FollowOptions {
  readonly signal?: AbortSignal
  readonly report?: ReportOptions
  /** The clock. Default: the real one. */
  readonly clock?: Clock
}

/**
 * The milliseconds that a world that ends before it has started waits for processes that still load. A worker that is
 * terminated while Node's loader reads a file leaves that file open for good.
 */
const loadingGraceMs = 5000

/**
 * A worker thread or an operating system process that hosts one process of a world. Events: `message` with a
 * `FromProcess`, `error` with the reason of its death, `exit`, the last one.
 */
export interface StartedProcess {
  postMessage(message: ToProcess): void
  /** Ends it at any point of its work; resolves when it has ended. */
  terminate(): Promise<unknown>
  on(event: 'message', listener: (message: FromProcess) => void): unknown
  on(event: 'messageerror' | 'error', listener: (error: Error) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
}

interface StartedProcesses {
  readonly processes: readonly StartedProcess[]
  /** The word for one process, in messages. */
  readonly noun: string
  /** Called once, when all have ended. */
  release(): void
}

/**
 * Follows processes that were started for one world, each of which loads the program itself, to the world's end.
 *
 * @param start is not called when `signal` is aborted already
 * @returns the values that the ranks' mains returned, in rank order, cloned
 */
export function followWorld<T>(
  start: () => StartedProcesses,
  layout: WorldLayout,
  options: FollowOptions = {},
): Promise<T[]> {
  const { signal } = options
  if (signal?.aborted === true) return Promise.reject(abortedWorld(signal.reason))
  return new Promise((resolve, reject) => {
    new StartedWorld(start(), layout, options, {
      returned: (results) => resolve(results as T[]),
      failed: reject,
    })
  })
}

/** @throws ERR_ARGUMENT for a function if every process loads the program itself */
export function requireModule(main: unknown, kind: string, what: string): URL {
  if (main instanceof URL) return main
  throw new RankweaveError(
    'ERR_ARGUMENT',
    `run: functions do not cross ${what}; for fabric '${kind}' expected the URL of a module whose default ` +
      `export is main, such as new URL('./program.js', import.meta.url), got a function`,
  )
}

/** @throws ERR_CLONE */
export function requireCloneable(args: unknown, into: string): void {
  try {
    structuredClone(args)
  } catch (cause) {
    const message = `run: args cannot be cloned into ${into}: ${String(cause)}`
    throw new RankweaveError('ERR_CLONE', message, { cause })
  }
}

interface Settle {
  returned(results: unknown[]): void
  failed(error: unknown): void
}

/** The processes of one world as the thread that called `run` sees them. */
class StartedWorld {
  readonly #started: StartedProcesses
  readonly #layout: WorldLayout
  readonly #signal: AbortSignal | undefined
  readonly #clock: Clock
  readonly #settle: Settle
  readonly #queries: StateQuery
  readonly #triggers: ReportTriggers
  readonly #outcomes: (ProcessOutcome | undefined)[]
  /** The errors that ended processes, as far as they reported them. */
  readonly #uncaught: unknown[] = []
  /**
   * The decisions of the authority, which this thread is on threads: it sees workers end, and orders losses and
   * decisions.
   */
  readonly #decisions: Decisions
  /** The processes that have neither loaded the program yet nor failed to. */
  readonly #loading: Set<number>
  #left: number
  /** The first failure, or the one that process 0, which decides, reports. */
  #failure: { readonly error: unknown; readonly process: number; readonly lost: boolean } | undefined
  #endGrace: (() => void) | undefined
  /** Called when all processes have loaded, once the world has ended. */
  #onLoaded: (() => void) | undefined
  /** The processes that have reported that the world has failed. */
  readonly #aware = new Set<number>()
  /** The processes that did not react within the grace period. */
  #unresponsive: readonly number[] = []
  #ended = false

  constructor(
    started: StartedProcesses,
    layout: WorldLayout,
    { signal, report, clock = realClock }: FollowOptions,
    settle: Settle,
  ) {
    const { processes } = started
    this.#started = started
    this.#layout = layout
    this.#signal = signal
    this.#clock = clock
    this.#settle = settle
    this.#loading = new Set(processes.keys())
    this.#left = layout.processes
    this.#outcomes = new Array<ProcessOutcome | undefined>(layout.processes).fill(undefined)
    this.#decisions = new Decisions(layout.processes, (process, key, decision) =>
      processes[process].postMessage({ kind: 'decision', key, decision }),
    )
    this.#queries = new StateQuery(clock, (process, query) =>
      processes[process].postMessage({ kind: 'diagnose', query }),
    )
    this.#triggers = new ReportTriggers(report, clock, () => this.#describe())
    processes.forEach((each, process) => {
      each.on('message', (message) => {
        this.#receive(process, message)
        if (message.kind === 'loaded' || message.kind === 'failed') this.#doneLoading(process)
      })
      each.on('messageerror', (error) => this.#ended || this.#fail(process, error))
      each.on('error', (error) => {
        this.#uncaught[process] = error
      })
      each.on('exit', (code) => {
        this.#exited(process, code)
        this.#doneLoading(process)
      })
    })
    signal?.addEventListener('abort', this.#onAbort)
  }

  #receive(process: number, message: FromProcess): void {
    if (this.#ended || this.#outcomes[process]?.kind === 'lost') return
    switch (message.kind) {
      case 'loaded':
        this.#loading.delete(process)
        if (this.#loading.size === 0) this.#notifyAll({ kind: 'start' })
        break
      case 'decide':
        this.#decisions.contribute(process, message.key, message.members, message.contribution)
        break
      case 'state':
        this.#queries.answered(process, message.query, message.state ?? undefined)
        break
      case 'failing':
        this.#aware.add(process)
        if (this.#isCutOff(process, message.error)) break
        if (message.afterSurvived === true && this.#failure?.lost === true) this.#failure = undefined
        this.#note(process, decodeError(message.error))
        this.#startGrace()
        break
      case 'returned':
        this.#done(process, message)
        break
      case 'failed':
        if (!this.#isCutOff(process, message.error)) this.#fail(process, decodeError(message.error))
    }
  }

  /** Returns whether a process is lost though it lives: it has lost the authority, which is in this process. */
  #isCutOff(process: number, encoded: Uint8Array): boolean {
    const error = decodeError(encoded)
    if (isRankweaveError(error, 'ERR_WORLD_LOST')) this.#lose(process, error, `uncaught ${causeText(error)}`)
    return isRankweaveError(error, 'ERR_WORLD_LOST')
  }

  #fail(process: number, error: unknown): void {
    this.#note(process, error)
    // A program that one process cannot load cannot run.
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
    const reason =
      cause === undefined
        ? `its ${this.#started.noun} ended with code ${code}`
        : `uncaught ${causeText(cause)}`
    this.#lose(process, cause, reason)
  }

  #lose(process: number, cause: unknown, reason: string): void {
    this.#queries.gone(process)
    const message = `${this.#named(process)} is lost: ${reason}`
    const error = isRefusal(cause)
      ? cause
      : new RankweaveError('ERR_PEER_LOST', message, { details: { process }, cause })
    this.#failure ??= { error, process, lost: true }
    if (this.#loading.size > 0) {
      this.#end()
      return
    }
    this.#notifyAll({ kind: 'lost', process, reason })
    this.#decisions.lose(process)
    this.#done(process, { kind: 'lost' })
  }

  #done(process: number, outcome: ProcessOutcome): void {
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

  /**
   * Starts the grace period of a failed world. A process that runs without awaiting anything does not notice the
   * failure, and is terminated in the end.
   */
  #startGrace(): void {
    this.#endGrace ??= this.#clock.later(endGraceMs, () => {
      this.#unresponsive = this.#outcomes.flatMap((outcome, process) =>
        outcome === undefined && !this.#aware.has(process) ? [process] : [],
      )
      if (this.#signal?.aborted === true)
        this.#failure ??= { error: abortedWorld(this.#signal.reason), process: 0, lost: false }
      this.#end()
    })
  }

  #notifyAll(message: ToProcess): void {
    for (const started of this.#started.processes) started.postMessage(message)
  }

  async #describe(): Promise<string> {
    const asked = this.#outcomes.flatMap((outcome, process) => (outcome === undefined ? [process] : []))
    const states = await this.#queries.ask(asked)
    const lost = this.#outcomes.flatMap((outcome, process) => (outcome?.kind === 'lost' ? [process] : []))
    return describeWorld(this.#layout, states, { loading: this.#loading.size > 0, lost })
  }

  /** Ends all processes: anything that a program left running in its process ends with the world. */
  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#endGrace?.()
    this.#triggers.stop()
    this.#queries.stop()
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#loaded()
      .then(() => Promise.all(this.#started.processes.map((started) => started.terminate())))
      .then(
        () => this.#report(),
        (error) => this.#settle.failed(error),
      )
      .finally(() => this.#started.release())
  }

  /** Resolves when all processes have loaded, or one takes too long. */
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
    if (this.#failure !== undefined && !(this.#failure.lost && areSurvived(this.#outcomes))) {
      const { error } = this.#failure
      const bySignal =
        this.#signal?.aborted === true && error instanceof RankweaveError && error.code === 'ERR_ABORTED'
      this.#settle.failed(this.#withUnresponsive(bySignal ? abortedWorld(this.#signal.reason) : error))
      return
    }
    const results: unknown[] = []
    const { firstRank } = this.#layout
    this.#outcomes.forEach((outcome, process) => {
      // Lost ranks have returned nothing.
      for (let rank = firstRank[process]; rank < firstRank[process + 1]; rank++) {
        results.push(outcome?.kind === 'returned' ? outcome.results[rank - firstRank[process]] : undefined)
      }
    })
    this.#settle.returned(results)
  }

  /** Adds the processes that had to be terminated to the error, which is a copy. */
  #withUnresponsive(error: unknown): unknown {
    if (this.#unresponsive.length === 0 || !(error instanceof Error)) return error
    const who = this.#unresponsive.map((process) => this.#named(process)).join(', ')
    error.message += `; terminated ${endGraceMs / 1000} s later because it ran without awaiting anything: ${who}`
    return error
  }

  #named(process: number): string {
    const first = this.#layout.firstRank[process]
    const end = this.#layout.firstRank[process + 1]
    return `process ${process} ${end === first ? 'without ranks' : `with ${rangesText([first, end - 1])}`}`
  }
}

/**
 * Tells whether an error that nobody caught states what the program did wrong, as of a call that it does not await. An
 * error about a loss does not.
 */
function isRefusal(error: unknown): boolean {
  return isRankweaveError(error) && !isRankweaveError(error, 'ERR_WORLD_LOST', 'ERR_PEER_LOST')
}

/** The milliseconds to wait for a process that does not answer. */
const timeoutMs = 1000

/** Queries the processes of a world for their state. One that runs without awaiting anything cannot answer. */
export class StateQuery {
  readonly #clock: Clock
  readonly #post: (process: number, query: number) => void
  readonly #open = new Map<number, Query>()
  #last = 0

  constructor(clock: Clock, post: (process: number, query: number) => void) {
    this.#clock = clock
    this.#post = post
  }

  /** @returns the states by process; none for those that did not answer in time */
  ask(processes: readonly number[]): Promise<ReadonlyMap<number, ProcessState | undefined>> {
    const query = ++this.#last
    return new Promise((resolve) => {
      const states = new Map<number, ProcessState | undefined>()
      const cancel = this.#clock.later(timeoutMs, () => this.#close(query))
      this.#open.set(query, { waiting: new Set(processes), states, cancel, resolve })
      for (const process of processes) this.#post(process, query)
      if (processes.length === 0) this.#close(query)
    })
  }

  answered(process: number, query: number, state: ProcessState | undefined): void {
    this.#open.get(query)?.states.set(process, state)
    this.#settle(process, query)
  }

  /** Notes that a process has ended, and no longer answers. */
  gone(process: number): void {
    for (const query of [...this.#open.keys()]) this.#settle(process, query)
  }

  stop(): void {
    for (const query of [...this.#open.keys()]) this.#close(query)
  }

  #settle(process: number, query: number): void {
    const waiting = this.#open.get(query)?.waiting
    if (waiting?.delete(process) === true && waiting.size === 0) this.#close(query)
  }

  #close(query: number): void {
    const { states, cancel, resolve } = this.#open.get(query)!
    this.#open.delete(query)
    cancel()
    resolve(states)
  }
}

interface Query {
  readonly waiting: Set<number>
  readonly states: Map<number, ProcessState | undefined>
  readonly cancel: () => void
  resolve(states: ReadonlyMap<number, ProcessState | undefined>): void
}

export type ProcessOutcome =
  | { readonly kind: 'returned'; readonly results: readonly unknown[]; readonly without?: readonly number[] }
  | { readonly kind: 'failed' }
  | { readonly kind: 'lost' }

/**
 * Returns whether the world did without the processes that were lost: all others have returned, and each has agreed to
 * do without each of them.
 *
 * @param outcomes by process; undefined for one that has not ended
 */
export function areSurvived(outcomes: readonly (ProcessOutcome | undefined)[]): boolean {
  const gone = [...outcomes.keys()].filter((process) => outcomes[process]?.kind === 'lost')
  const living = outcomes.filter((outcome) => outcome?.kind !== 'lost')
  return (
    living.length > 0 &&
    living.every(
      (outcome) =>
        outcome?.kind === 'returned' && gone.every((process) => outcome.without?.includes(process) === true),
    )
  )
}
