import { Worker } from 'node:worker_threads'
import type { Pool } from './program.js'

// The packages, as their first pages use them. Their names are no literals below: checkouts whose packages are older
// pass the compiler without them.

const tasksUrl = new URL('tasks.js', import.meta.url)
const workerUrl = new URL('pool-worker.js', import.meta.url)

export const pools: Readonly<Record<string, (threads: number) => Promise<Pool>>> = {
  async piscina(threads) {
    const { Piscina } = (await import(nameOf('piscina'))) as { readonly Piscina: FilePoolClass }
    return filePool(
      new Piscina({ filename: tasksUrl.href, minThreads: threads, maxThreads: threads }),
      threads,
    )
  },
  async tinypool(threads) {
    const { Tinypool } = (await import(nameOf('tinypool'))) as { readonly Tinypool: FilePoolClass }
    return filePool(
      new Tinypool({ filename: tasksUrl.href, minThreads: threads, maxThreads: threads }),
      threads,
    )
  },
  async workerpool(threads) {
    const { default: workerpool } = (await import(nameOf('workerpool'))) as {
      readonly default: { pool(script: string, options: object): MethodPool }
    }
    const pool = workerpool.pool(workerUrl.pathname, {
      ...{ workerType: 'thread', minWorkers: threads, maxWorkers: threads },
      workerThreadOpts: { workerData: 'workerpool' },
    })
    return {
      threads,
      run: async <T>(task: string, argument: unknown) => (await pool.exec(task, [argument])) as T,
      close: async () => pool.terminate(),
    }
  },
  async comlink(threads) {
    const { wrap } = (await import(nameOf('comlink/dist/esm/comlink.mjs'))) as {
      wrap(endpoint: unknown): Readonly<Record<string, (argument: unknown) => Promise<unknown>>>
    }
    const { default: nodeEndpoint } = (await import(nameOf('comlink/dist/esm/node-adapter.mjs'))) as {
      default(worker: Worker): unknown
    }
    const workers = workersOf(threads, 'comlink')
    const remotes = workers.map((worker) => wrap(nodeEndpoint(worker)))
    return inTurn(workers, (which, task, argument) => remotes[which][task](argument))
  },
  async postMessage(threads) {
    const workers = workersOf(threads, 'postMessage')
    const calls = new Map<number, (result: unknown) => void>()
    for (const worker of workers)
      worker.on('message', ({ id, result }: { readonly id: number; readonly result: unknown }) => {
        calls.get(id)!(result)
        calls.delete(id)
      })
    let last = 0
    return inTurn(workers, (which, task, argument) => {
      const id = ++last
      workers[which].postMessage({ id, task, argument })
      return new Promise((resolve) => calls.set(id, resolve))
    })
  },
}

type FilePoolClass = new (options: object) => FilePool

/** A pool whose threads load a file, and run its functions by name. */
interface FilePool {
  run(argument: unknown, options: { readonly name: string }): Promise<unknown>
  destroy(): Promise<void>
}

/** A pool whose threads have registered functions. */
interface MethodPool {
  exec(method: string, args: readonly unknown[]): PromiseLike<unknown>
  terminate(): PromiseLike<unknown>
}

const nameOf = (name: string): string => name

function filePool(pool: FilePool, threads: number): Pool {
  return {
    threads,
    run: (task, argument) => pool.run(argument, { name: task }) as Promise<never>,
    close: () => pool.destroy(),
  }
}

function workersOf(threads: number, kind: string): Worker[] {
  return Array.from({ length: threads }, () => new Worker(workerUrl, { workerData: kind }))
}

/** Tasks go to the workers in turn. */
function inTurn(
  workers: readonly Worker[],
  call: (which: number, task: string, argument: unknown) => Promise<unknown>,
): Pool {
  let next = 0
  return {
    threads: workers.length,
    run: (task, argument) => call(next++ % workers.length, task, argument) as Promise<never>,
    close: () => Promise.all(workers.map((worker) => worker.terminate())),
  }
}
