import type { Clock } from '../../base/clock.js'
import { type RefusalCode, refusalOf } from '../protocol/refusals.js'
import { drop, type Socket, type SocketTransport, socketErrorText, socketState } from '../socket/socket.js'

/** The input of a thread that sends heartbeats for a member. */
export interface HeartbeatTask {
  readonly url: string
  /** The first message of the socket. */
  readonly request: string
  readonly heartbeatMs: number
  readonly silenceMs: number
}

/**
 * Sends heartbeats until it is stopped. `silent` is called at most once, when the rendezvous stops answering.
 */
export type StartHeartbeats = (task: HeartbeatTask, silent: (reason: string) => void) => { stop(): void }

const beat = JSON.stringify({ kind: 'beat' })

/**
 * Sends heartbeats over a separate socket, from a thread or from any event loop. A socket that breaks is dialled again
 * with the next beat. Like the rendezvous it counts ticks. A process that was stopped, or could not run, does not
 * mistake that for the silence of its peer.
 */
export function startHeartbeatLoop(
  { url, request, heartbeatMs, silenceMs }: HeartbeatTask,
  transport: SocketTransport,
  clock: Clock,
  silent: (reason: string) => void,
): { stop(): void } {
  const mostTicks = Math.ceil(silenceMs / heartbeatMs) + 1
  let ticks = 0
  /** The ticks of a socket since a message of the rendezvous arrived. */
  let lastError = ''
  let socket: Socket | undefined
  let cancel: (() => void) | undefined
  let isStopped = false

  const stop = () => {
    isStopped = true
    cancel?.()
    socket?.close(1000, 'stopped')
  }
  const give = (reason: string) => {
    if (isStopped) return
    stop()
    if (socket !== undefined) drop(socket, 1000, 'silent')
    silent(reason)
  }
  const dial = () => {
    const dialled = transport.dial(url)
    socket = dialled
    dialled.addEventListener('open', () => dialled.send(request))
    dialled.addEventListener('message', () => {
      if (socket !== dialled) return
      ticks = 0
      lastError = ''
    })
    dialled.addEventListener('error', (event) => {
      lastError = socketErrorText(event)
    })
    dialled.addEventListener('close', ({ code }) => {
      if (socket !== dialled) return
      socket = undefined
      const refusal: RefusalCode | undefined = refusalOf(code)
      if (refusal !== undefined) give(`the rendezvous refuses heartbeats: ${refusal}`)
      // The socket is closed for good: the member learns it on its own socket.
      else if (code === 1000) stop()
    })
  }
  const tick = () => {
    cancel = clock.later(heartbeatMs, tick)
    if (++ticks >= mostTicks) give(withError(`the rendezvous has been silent for ${silenceMs} ms`, lastError))
    else if (socket === undefined) dial()
    else if (socket.readyState === socketState.open) socket.send(beat)
  }

  cancel = clock.later(heartbeatMs, tick)
  dial()
  return { stop }
}

function withError(what: string, error: string): string {
  return error === '' ? what : `${what}: ${error}`
}
