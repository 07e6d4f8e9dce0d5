import { Worker } from 'node:worker_threads'
import { type ErrorRecord, RankweaveError } from '../../errors.js'
import { isSource, ownModule, workerFile } from '../../package-paths.js'
import type { TaskKind, TaskProgress, Tasks, WorkerSettings } from './task.js'
import { TenantQueue } from './tenant-queue.js'

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

export interface PoolOptions {
  readonly threads: number
  /** Tasks of a tenant that wait for a thread. */
  readonly waiting: number
  readonly heapMb: number
  readonly settings: WorkerSettings
}

export interface TaskOptions {
  /** For whom it is; default: '' */
  readonly tenant?: string
  readonly onProgress?: (progress: TaskProgress) => void
  readonly onStart?: () => void
  readonly signal?: AbortSignal
}

interface Pending {
  readonly message: ToWorker
  readonly options: TaskOptions
  readonly resolve: (output: never) => void
  readonly reject: (error: unknown) => void
  isRunning: boolean
}

/**
 * Threads that work one task at a time each, in the order in which a tenant's tasks came; tenants take turns.
 * A task that is aborted takes its thread with it; when that has ended, and its memory is free, the next task
 * gets a new one. So does a thread that keeps much memory after its task, which V8 would keep while it idles.
 */
export class WorkerPool {
  readonly #options: PoolOptions
  readonly #idle: Worker[] = []
  readonly #busy = new Set<Worker>()
  readonly #waiting = new TenantQueue<Pending>()
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#busy.size
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * @throws ERR_BUSY when too many tasks wait, ERR_CANCELLED when it is aborted, ERR_LIMIT when it needs too
   *   much memory; what the task throws
   */
  run<K extends TaskKind>(
    kind: K,
    input: Tasks[K]['input'],
    options: TaskOptions = {},
  ): Promise<Tasks[K]['output']> {
    return new Promise((resolve, reject) => {
      const { signal, tenant = '' } = options
      if (this.#isClosed) return reject(new RankweaveError('ERR_BUSY', 'the service shuts down'))
      if (signal?.aborted) return reject(cancelled())
      const waiting = this.#waiting.sizeOf(tenant)
      if (waiting >= this.#options.waiting && this.#busy.size >= this.#options.threads)
        return reject(
          new RankweaveError('ERR_BUSY', `expected at most ${this.#options.waiting} tasks that wait`),
        )
      const pending: Pending = {
        message: { kind, input: input as never },
        options,
        resolve,
        reject,
        isRunning: false,
      }
      signal?.addEventListener(
        'abort',
        () => {
          this.#waiting.remove(tenant, pending)
          // Of a task that runs this is too early: its thread has not ended.
          if (!pending.isRunning) reject(cancelled())
        },
        { once: true },
      )
      this.#waiting.add(tenant, pending)
      this.#next()
    })
  }

  /** Ends all threads; what they do, and what waits, is rejected with ERR_BUSY. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (let waiting = this.#waiting.take(); waiting !== undefined; waiting = this.#waiting.take())
      waiting.reject(new RankweaveError('ERR_BUSY', 'the service shuts down'))
    await Promise.all([...this.#idle, ...this.#busy].map((worker) => worker.terminate()))
  }

  #next(): void {
    while (this.#waiting.size > 0 && this.#busy.size < this.#options.threads) {
      const pending = this.#waiting.take()!
      pending.isRunning = true
      const worker = this.#idle.pop() ?? this.#start()
      this.#busy.add(worker)
      this.#give(worker, pending)
    }
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

  #give(worker: Worker, { message, options, resolve, reject }: Pending): void {
    const { onProgress, onStart, signal } = options
    const done = (settle: () => void, isUsable: boolean) => {
      worker.off('message', receive).off('error', fail).off('exit', exit)
      signal?.removeEventListener('abort', abort)
      const free = () => {
        this.#busy.delete(worker)
        settle()
        this.#next()
      }
      if (!isUsable || this.#isClosed) return void worker.terminate().then(free, free)
      this.#idle.push(worker)
      free()
    }
    const receive = (answer: FromWorker) => {
      if ('progress' in answer) onProgress?.(answer.progress)
      else if ('output' in answer) done(() => resolve(answer.output as never), !answer.isGrown)
      else if ('error' in answer) done(() => reject(RankweaveError.fromRecord(answer.error)), !answer.isGrown)
      else done(() => reject(new Error(answer.defect)), false)
    }
    const fail = (error: Error) => done(() => reject(this.#failure(error)), false)
    const exit = () => done(() => reject(this.#failure(new Error('the thread ended'))), false)
    const abort = () => done(() => reject(cancelled()), false)
    worker.on('message', receive).on('error', fail).on('exit', exit)
    signal?.addEventListener('abort', abort, { once: true })
    onStart?.()
    worker.postMessage(message)
  }

  #failure(error: Error): Error {
    if (this.#isClosed) return new RankweaveError('ERR_BUSY', 'the service shuts down')
    const { heapMb } = this.#options
    return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? new RankweaveError('ERR_LIMIT', `the job needs more than ${heapMb} MB of heap (jobHeapMb)`)
      : error
  }
}

function cancelled(): RankweaveError {
  return new RankweaveError('ERR_CANCELLED', 'the job was cancelled')
}
