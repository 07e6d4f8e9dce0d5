import type { Clock } from '../../base/clock.js'
import { type RefusalCode, refusalOf } from '../protocol/refusals.js'
import { drop, type Socket, type SocketTransport, socketErrorText, socketState } from '../socket/socket.js'

/**
 * Detects peers that have been silent for too long. It counts its own ticks instead of reading a clock: an observer
 * that was itself stopped, or busy, has not listened meanwhile and blames no peer for it. A peer is reported once,
 * after `silenceMs` without a message and at most one tick later.
 */
export class SilenceMonitor<Peer> {
  /** The tick during which each peer was heard last. */
  readonly #heardAt = new Map<Peer, number>()
  readonly #clock: Clock
  readonly #tickMs: number
  readonly #mostTicks: number
  readonly #silent: (peer: Peer) => void
  #tick = 0
  #cancel: (() => void) | undefined

  /** @param silent is called for every peer that was silent; it may call `forget` for any */
  constructor(
    { heartbeatMs, silenceMs }: { readonly heartbeatMs: number; readonly silenceMs: number },
    clock: Clock,
    silent: (peer: Peer) => void,
  ) {
    this.#clock = clock
    this.#tickMs = heartbeatMs
    // A peer heard during a tick may have been heard at its end, so that tick does not count.
    this.#mostTicks = Math.ceil(silenceMs / heartbeatMs) + 1
    this.#silent = silent
  }

  /** Returns whether two messages of `peer` are overdue: it should send one every tick. */
  isOverdue(peer: Peer): boolean {
    return this.#tick - (this.#heardAt.get(peer) ?? this.#tick) > 2
  }

  /** Notes a message of `peer`. The first one begins its watch. */
  heard(peer: Peer): void {
    this.#heardAt.set(peer, this.#tick)
    this.#cancel ??= this.#clock.later(this.#tickMs, this.#pass)
  }

  /** Ends the watch of `peer`. No timer runs while no peer is watched. */
  forget(peer: Peer): void {
    this.#heardAt.delete(peer)
    if (this.#heardAt.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  readonly #pass = () => {
    this.#tick++
    this.#cancel = this.#clock.later(this.#tickMs, this.#pass)
    for (const [peer, heardAt] of [...this.#heardAt]) {
      if (this.#tick - heardAt < this.#mostTicks || !this.#heardAt.has(peer)) continue
      this.forget(peer)
      this.#silent(peer)
    }
  }
}

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
