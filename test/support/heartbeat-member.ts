// A process that joins a world, computes for longer than it may be silent, says so, and continues computing.
// Arguments: URL of the rendezvous, token, module of the thread that sends heartbeats, milliseconds to
// compute.
import { argv } from 'node:process'
import { heartbeatWorker } from '../../src/websocket/rendezvous/heartbeat-worker-nodejs.js'
import { joinOver } from './loopback-rendezvous.js'

const [, , url, token, workerUrl, computeMs] = argv as unknown as readonly [
  string,
  string,
  string,
  string,
  string,
  string,
]
const member = await joinOver(url, token, {
  process: 1,
  startHeartbeats: heartbeatWorker({ workerUrl: new URL(workerUrl) }),
})
member.attach({ lost() {}, worldLost() {}, relayed() {} })
// As in a loop of the program: the event loop does not turn.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(computeMs))
member.relay(0, Uint8Array.of(1))
setInterval(() => {}, 1_000)
