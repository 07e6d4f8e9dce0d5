// This module is the entry of the thread that sends heartbeats.
import { parentPort, workerData } from 'node:worker_threads'
import { realClock } from '../../base/clock.js'
import { nodeTransport } from '../socket/transport-nodejs.js'
import type { HeartbeatData } from './heartbeat-worker-nodejs.js'
import { startHeartbeatLoop } from './heartbeats.js'

/** The most bytes of a message: the rendezvous answers a beat with a beat, or refuses. */
const maxMessageBytes = 4_096

const { task, ca, parentPid } = workerData as HeartbeatData
const transport = nodeTransport({ maxMessageBytes, ...(ca === undefined ? {} : { ca }) })
startHeartbeatLoop(task, transport, realClock, (reason) => parentPort!.postMessage(reason))
if (parentPid !== undefined) endWithParent(parentPid)
// The listener keeps this thread alive while its socket is dialled again.
parentPort!.on('message', () => {})

/**
 * Ends the process when its parent has ended. The main thread ends by itself when its event loop turns; if it does not,
 * that shows a second later.
 */
function endWithParent(parentPid: number): void {
  let isOrphan = false
  setInterval(() => {
    if (isOrphan) process.kill(process.pid, 'SIGKILL')
    isOrphan = process.ppid !== parentPid
  }, 1000)
}
