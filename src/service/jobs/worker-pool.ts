import { Worker } from 'node:worker_threads'
import { type Clock, realClock } from '../../base/clock.js'
import { addToList } from '../../base/maps.js'
import { type ErrorRecord, RankweaveError } from '../../errors.js'
import { isSource, ownModule, workerFile } from '../../package-paths.js'
import type { TaskKind, TaskProgress, Tasks, WorkerSettings } from './task.js'

export interface ToWorker {
  readonly kind: TaskKind
  /** The input of that kind; TypeScript cannot express that. */
  readonly input: never
}

export type FromWorker =
  | { readonly progress: TaskProgress }
  /** `isGrown`: the thread keeps much memory, see {@link WorkerPool}. */
  | { readonly output: unknown; readonly isGrown: boolean }
  | { readonly error: ErrorRecord; readonly isGrown: boolean }
  | { readonly defect: string }

interface PoolOptions {
  /** The number of tasks at a time; one more for a task that runs long, see {@link WorkerPool}. */
  readonly threads: number
  /** The number of tasks of a tenant that wait for a thread. */
  readonly waiting: number
  readonly heapMb: number
  /** The seconds that a task may run, each time it is started. */
  readonly seconds: number
  readonly settings: WorkerSettings
  /** The clock. Default: the time of this machine. */
  readonly clock?: Clock
}

/** The milliseconds after which a task yields its thread to a tenant that waits and of which nothing runs. */
export const sliceMs = 500

interface TaskOptions {
  /** The tenant; default: '' */
  readonly tenant?: string
  readonly onProgress?: (progress: TaskProgress) => void
  /** Called with `queued` when a task that gave up its thread waits again. */
  readonly onState?: (state: 'running' | 'queued') => void
  readonly signal?: AbortSignal
}

interface Pending {
  readonly message: ToWorker
  readonly options: TaskOptions
  readonly tenant: string
  readonly resolve: (output: never) => void
  readonly reject: (error: unknown) => void
}

/** A task that has a thread. */
interface Run {
  readonly pending: Pending
  readonly worker: Worker
  isPastSlice: boolean
  isEnding: boolean
  /** Takes its thread away; calls `settle` when that has ended, and its memory is free. */
  end(settle: () => void): void
}

/**
 * A pool of threads that work one task at a time each, in the order in which a tenant's tasks came; tenants take turns.
 * A task that is aborted, or exceeds a limit, takes its thread with it. When that has ended, and its memory is free,
 * the next task gets a new one. A thread that keeps much memory after its task ends, too.
 *
 * No tenant waits for the long tasks of others. In addition to its `threads` the pool has one lane. While a tenant
 * waits of which nothing runs, a task that has run for {@link sliceMs} leaves its place: into the lane, with its
 * thread, if that is free; otherwise its thread is ended, and the task is started again in the lane when its turn
 * comes. A task in the lane stays there until it ends. So a task is started at most twice, and there are at most
 * `threads + 1` threads. A tenant of which nothing runs waits for at most a slice for each tenant before it, however
 * long their tasks are.
 */
export class WorkerPool {
  readonly #options: PoolOptions
  readonly #clock: Clock
  readonly #idle: Worker[] = []
  /** The runs in the order in which they were started. */
  readonly #runs = new Set<Run>()
  #lane: Run | null = null
  readonly #waiting = new TenantQueue<Pending>()
  /** The tasks that gave up their threads, and wait for the lane. */
  readonly #stopped = new TenantQueue<Pending>()
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#clock = options.clock ?? realClock
  }

  get running(): number {
    return this.#runs.size
  }

  get waiting(): number {
    return this.#waiting.size + this.#stopped.size
  }

  /**
   * @throws ERR_BUSY when too many tasks wait, ERR_CANCELLED when it is aborted, ERR_LIMIT when it needs too much
   *   memory or time; what the task throws
   */
  run<K extends TaskKind>(
    kind: K,
    input: Tasks[K]['input'],
    options: TaskOptions = {},
  ): Promise<Tasks[K]['output']> {
    return new Promise((resolve, reject) => {
      const { signal, tenant = '' } = options
      if (this.#isClosed) return reject(shutsDown())
      if (signal?.aborted) return reject(cancelled())
      if (this.#waiting.sizeOf(tenant) >= this.#options.waiting && !this.#hasPlace())
        return reject(
          new RankweaveError('ERR_BUSY', `expected at most ${this.#options.waiting} tasks that wait`),
        )
      const pending: Pending = {
        message: { kind, input: input as never },
        ...{ options, tenant, resolve, reject },
      }
      signal?.addEventListener('abort', () => this.#cancel(pending), { once: true })
      this.#waiting.add(tenant, pending)
      this.#next()
    })
  }

  /** Ends all threads; running and waiting tasks are rejected with ERR_BUSY. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const queue of [this.#waiting, this.#stopped])
      for (let waiting = queue.take(); waiting !== undefined; waiting = queue.take())
        waiting.reject(shutsDown())
    await Promise.all(
      [...this.#idle, ...Array.from(this.#runs, ({ worker }) => worker)].map((worker) => worker.terminate()),
    )
  }

  #hasPlace(): boolean {
    return this.#runs.size - (this.#lane === null ? 0 : 1) < this.#options.threads
  }

  #cancel(pending: Pending): void {
    const run = [...this.#runs].find((each) => each.pending === pending)
    const reject = () => pending.reject(cancelled())
    for (const queue of [this.#waiting, this.#stopped]) queue.remove(pending.tenant, pending)
    if (run === undefined) reject()
    else run.end(reject)
  }

  #next(): void {
    if (this.#lane === null) {
      const stopped = this.#stopped.take()
      if (stopped !== undefined) this.#lane = this.#give(stopped)
    }
    const idles = (tenant: string) => ![...this.#runs].some(({ pending }) => pending.tenant === tenant)
    while (this.#waiting.size > 0 && this.#hasPlace())
      this.#give(this.#waiting.take(idles) ?? this.#waiting.take()!)
    if (this.#waiting.hasOf(idles)) this.#makePlace()
  }

  /** Makes one place at a time: when it is taken, this is called again. */
  #makePlace(): void {
    const inPlaces = [...this.#runs].filter((run) => run !== this.#lane)
    if (inPlaces.some(({ isEnding }) => isEnding)) return
    const long = inPlaces.filter(({ isPastSlice }) => isPastSlice)
    if (long.length === 0) return
    if (this.#lane === null) {
      this.#lane = long[0]
      this.#next()
      return
    }
    // The last of these has run for the shortest time, so the least work is lost.
    const { pending, end } = long.at(-1)!
    end(() => {
      const { options, tenant, reject } = pending
      if (this.#isClosed) return reject(shutsDown())
      if (options.signal?.aborted) return reject(cancelled())
      this.#stopped.add(tenant, pending)
      options.onState?.('queued')
    })
  }

  #start(): Worker {
    const entry = ownModule('service/jobs/planning-worker')
    const { settings, heapMb } = this.#options
    const worker = new Worker(isSource ? workerFile : entry, {
      workerData: { entry: entry.href, settings },
      name: 'rankweave planning',
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    worker.unref()
    // Each waiter of a task adds a listener.
    worker.on('error', () => {})
    worker.on('exit', () => {
      const at = this.#idle.indexOf(worker)
      if (at >= 0) this.#idle.splice(at, 1)
    })
    return worker
  }

  #give(pending: Pending): Run {
    const worker = this.#idle.pop() ?? this.#start()
    const { message, resolve, reject } = pending
    const { onProgress, onState } = pending.options
    const { seconds } = this.#options
    const done = (settle: () => void, isUsable: boolean) => {
      if (run.isEnding) return
      run.isEnding = true
      endSlice()
      endTime()
      worker.off('message', receive).off('error', fail).off('exit', exit)
      const free = () => {
        this.#runs.delete(run)
        if (this.#lane === run) this.#lane = null
        settle()
        this.#next()
      }
      if (!isUsable || this.#isClosed) return void worker.terminate().then(free, free)
      this.#idle.push(worker)
      free()
    }
    const run: Run = {
      ...{ pending, worker, isPastSlice: false, isEnding: false },
      end: (settle) => done(settle, false),
    }
    const receive = (answer: FromWorker) => {
      if ('progress' in answer) onProgress?.(answer.progress)
      else if ('output' in answer) done(() => resolve(answer.output as never), !answer.isGrown)
      else if ('error' in answer) done(() => reject(RankweaveError.fromRecord(answer.error)), !answer.isGrown)
      else done(() => reject(new Error(answer.defect)), false)
    }
    const fail = (error: Error) => run.end(() => reject(this.#failure(error)))
    const exit = () => run.end(() => reject(this.#failure(new Error('the thread ended'))))
    worker.on('message', receive).on('error', fail).on('exit', exit)
    const endSlice = this.#clock.later(sliceMs, () => {
      run.isPastSlice = true
      this.#next()
    })
    const endTime = this.#clock.later(1000 * seconds, () =>
      run.end(() =>
        reject(new RankweaveError('ERR_LIMIT', `the job runs longer than ${seconds} s (jobSeconds)`)),
      ),
    )
    this.#runs.add(run)
    onState?.('running')
    worker.postMessage(message)
    return run
  }

  #failure(error: Error): Error {
    if (this.#isClosed) return shutsDown()
    const { heapMb } = this.#options
    return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? new RankweaveError('ERR_LIMIT', `the job needs more than ${heapMb} MB of heap (jobHeapMb)`)
      : error
  }
}

function cancelled(): RankweaveError {
  return new RankweaveError('ERR_CANCELLED', 'the job was cancelled')
}

function shutsDown(): RankweaveError {
  return new RankweaveError('ERR_BUSY', 'the service shuts down')
}

/** A queue of items in the order of arrival within each tenant; tenants take turns. */
export class TenantQueue<T> {
  /** The items by tenant; the tenant at the front is next. None is empty. */
  readonly #items = new Map<string, T[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  sizeOf(tenant: string): number {
    return this.#items.get(tenant)?.length ?? 0
  }

  add(tenant: string, item: T): void {
    addToList(this.#items, tenant, item)
    this.#size++
  }

  /** Takes the next tenant's first item; with `accepts`, that of the next tenant that it accepts. */
  take(accepts: (tenant: string) => boolean = () => true): T | undefined {
    for (const [tenant, items] of this.#items) {
      if (!accepts(tenant)) continue
      const item = items.shift()
      this.#size--
      this.#items.delete(tenant)
      if (items.length > 0) this.#items.set(tenant, items)
      return item
    }
    return undefined
  }

  /** Returns whether a tenant that is accepted has an item. */
  hasOf(accepts: (tenant: string) => boolean): boolean {
    return [...this.#items.keys()].some(accepts)
  }

  /** @returns whether it was there */
  remove(tenant: string, item: T): boolean {
    const items = this.#items.get(tenant)
    const at = items?.indexOf(item) ?? -1
    if (items === undefined || at < 0) return false
    items.splice(at, 1)
    this.#size--
    if (items.length === 0) this.#items.delete(tenant)
    return true
  }
}
