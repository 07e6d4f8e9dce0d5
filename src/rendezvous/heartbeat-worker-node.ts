import { Worker } from 'node:worker_threads'
import { isSource, ownModule, workerFile } from '../package-paths.js'
import type { HeartbeatTask, StartHeartbeats } from './heartbeat-loop.js'

/** What the thread is started with. */
export interface HeartbeatData {
  readonly kind: 'rankweave heartbeats'
  readonly task: HeartbeatTask
  readonly ca: string | undefined
  /** As source: the module that the thread runs. */
  readonly entry: string
}

/**
 * Heartbeats from a worker thread with a socket of its own: a process that computes for longer than `silenceMs` lives on,
 * while one that is stopped, or cut off, is noticed. Does not keep the event loop alive.
 *
 * @param options `ca`: certificates in PEM that sign that of the rendezvous; default: those that Node trusts
 */
export function heartbeatWorker({ ca }: { readonly ca?: string } = {}): StartHeartbeats {
  return (task, silent) => {
    const entry = ownModule('rendezvous/heartbeat-thread-node')
    const workerData: HeartbeatData = { kind: 'rankweave heartbeats', task, ca, entry: entry.href }
    const worker = new Worker(isSource ? workerFile : entry, {
      workerData,
      name: 'rankweave heartbeats',
      // The thread is this library's: it gets no hooks of the program.
      execArgv: [],
      env: {},
    })
    worker.unref()
    let isStopped = false
    worker.on('message', (reason: string) => {
      if (!isStopped) silent(reason)
    })
    worker.on('error', (error) => {
      if (!isStopped) silent(`the thread that sends heartbeats failed: ${error.message}`)
    })
    return {
      stop() {
        isStopped = true
        void worker.terminate()
      },
    }
  }
}
