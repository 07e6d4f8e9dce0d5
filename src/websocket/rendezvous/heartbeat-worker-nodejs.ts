import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { RankweaveError } from '../../errors.js'
import { isSource, ownModule, workerFile } from '../../package-paths.js'
import type { HeartbeatTask, StartHeartbeats } from './heartbeats.js'

/** The data with which the thread is started. */
export interface HeartbeatData {
  readonly kind: 'rankweave heartbeats'
  readonly task: HeartbeatTask
  readonly ca: string | undefined
  readonly parentPid: number | undefined
  /** The source of the module that the thread runs. */
  readonly entry: string
}

interface HeartbeatWorkerOptions {
  /** The certificates in PEM that sign that of the rendezvous. Default: those that Node trusts. */
  readonly ca?: string
  /**
   * The process that started this one. When it has ended, the thread kills this process, even one that computes without
   * end. Default: no such process.
   */
  readonly parentPid?: number
  /** The module of the thread. Default: that of this package. */
  readonly workerUrl?: URL
}

/**
 * Sends heartbeats from a worker thread with a separate socket. A process that computes for longer than `silenceMs`
 * lives on, while one that is stopped, or cut off, is noticed. Does not keep the event loop alive.
 *
 * @throws ERR_WORKER if the module of the thread is missing, as when an application bundles this code
 */
export function heartbeatWorker({ ca, workerUrl, parentPid }: HeartbeatWorkerOptions = {}): StartHeartbeats {
  const entry = workerUrl ?? ownModule('websocket/rendezvous/heartbeat-thread-nodejs')
  if (!existsSync(entry)) {
    throw new RankweaveError(
      'ERR_WORKER',
      `there is no file '${entry.href}', from which the thread for heartbeats starts: ` +
        "bundle 'rankweave/dist/websocket/rendezvous/heartbeat-thread-nodejs.js' as its own entry, and pass its URL",
    )
  }
  return (task, silent) => {
    const workerData: HeartbeatData = { kind: 'rankweave heartbeats', task, ca, parentPid, entry: entry.href }
    const worker = new Worker(isSource ? workerFile : entry, {
      workerData,
      name: 'rankweave heartbeats',
      // The thread belongs to this library, so it gets no hooks of the program.
      execArgv: [],
      env: {},
    })
    let isStopped = false
    worker.on('message', (reason: string) => {
      if (!isStopped) silent(reason)
    })
    worker.on('error', (error) => {
      if (!isStopped) silent(`the thread that sends heartbeats failed: ${error.message}`)
    })
    // A listener of messages that is added later would keep the event loop alive again.
    worker.unref()
    return {
      stop() {
        isStopped = true
        void worker.terminate()
      },
    }
  }
}
