import { realClock } from '../base/clock.js'
import { refusalOf } from '../websocket/protocol/refusals.js'
import { type StartHeartbeats, startHeartbeatLoop } from '../websocket/rendezvous/heartbeat-loop.js'
import type { Socket, SocketTransport } from '../websocket/socket/socket.js'

/** The constructor that every browser has; the types of Node 20 lack it. */
declare const WebSocket: new (url: string) => Socket

/** The browser's own sockets. A page cannot listen. */
export const browserTransport: SocketTransport = {
  dial: (url) => new WebSocket(url),
}

/** The parts of a browser's worker that are used here. */
export interface PageWorker {
  onmessage: (event: { readonly data: unknown }) => void
  onerror: (event: { readonly message?: string }) => void
  postMessage(data: unknown): void
  terminate(): void
}

declare const Worker: new (url: string) => PageWorker

/**
 * The program of the worker: `startHeartbeatLoop` without imports, as a text, so that no bundler has to know of a
 * further file. It posts that it runs, the code with which its socket was closed, or that nothing was heard for too
 * long.
 */
const program = `postMessage({ ready: true })
onmessage = ({ data: { url, request, beat, heartbeatMs, mostTicks } }) => {
  let socket
  let ticks = 0
  const dial = () => {
    const dialled = (socket = new WebSocket(url))
    dialled.onopen = () => dialled.send(request)
    dialled.onmessage = () => {
      if (socket === dialled) ticks = 0
    }
    dialled.onclose = ({ code }) => {
      if (socket !== dialled) return
      socket = undefined
      postMessage({ closed: code })
    }
  }
  setInterval(() => {
    if (++ticks >= mostTicks) postMessage({ silent: true })
    else if (socket === undefined) dial()
    else if (socket.readyState === 1) socket.send(beat)
  }, heartbeatMs)
  dial()
}`

/**
 * Starts the worker of a page that is about to join. The promise resolves when the worker runs, because a page that
 * computes can no longer start one; undefined where the page may start none.
 */
export function startWorker(): Promise<PageWorker | undefined> {
  return new Promise((resolve) => {
    try {
      const worker = new Worker(URL.createObjectURL(new Blob([program], { type: 'text/javascript' })))
      worker.onmessage = () => resolve(worker)
      worker.onerror = () => {
        worker.terminate()
        resolve(undefined)
      }
    } catch {
      resolve(undefined)
    }
  })
}

/**
 * Sends heartbeats from a worker with its own socket, so that a page stays a member while it computes. It also does so
 * in the background, where a page's timers run once a minute at best. If the page may start no worker, the page itself
 * sends them.
 */
export function browserHeartbeats(worker: PageWorker | undefined): StartHeartbeats {
  return (task, silent) => {
    if (worker === undefined) return startHeartbeatLoop(task, browserTransport, realClock, silent)
    const { url, request, heartbeatMs, silenceMs } = task
    worker.onmessage = ({ data }) => {
      const { closed } = data as { readonly closed?: number }
      const refusal = closed === undefined ? undefined : refusalOf(closed)
      // The worker dials again with the next beat if its socket broke. A socket that was closed for good is reported on
      // the socket of the page.
      if (closed !== undefined && closed !== 1000 && refusal === undefined) return
      worker.terminate()
      if (closed === undefined) silent(`the rendezvous has been silent for ${silenceMs} ms`)
      else if (refusal !== undefined) silent(`the rendezvous refuses heartbeats: ${refusal}`)
    }
    const beat = JSON.stringify({ kind: 'beat' })
    const mostTicks = Math.ceil(silenceMs / heartbeatMs) + 1
    worker.postMessage({ url, request, beat, heartbeatMs, mostTicks })
    return { stop: () => worker.terminate() }
  }
}
