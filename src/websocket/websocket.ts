import { type Clock, realClock } from '../base/clock.js'
import type { Authority, FabricSession } from '../fabric/fabric.js'
import type { PeerListener } from './peer-listener.js'
import type { Membership } from './rendezvous/membership.js'
import type { SocketTransport } from './socket/socket.js'
import { WebSocketProcess } from './websocket-process.js'

/**
 * Opens the session of the process that has joined a world. Closing it ends the listener and all data connections; the
 * membership remains, for the caller to leave.
 *
 * @param listener where peers dial this process, at the address that it stated when it joined; none when it stated none
 */
export function openWebSocket(
  membership: Membership,
  transport: Pick<SocketTransport, 'dial'>,
  listener?: PeerListener,
  clock: Clock = realClock,
): WebSocketSession {
  return new WebSocketSession(membership, new WebSocketProcess({ membership, transport, listener, clock }))
}

export class WebSocketSession implements FabricSession {
  readonly kind = 'websocket'
  readonly processes: number
  readonly nodes: readonly string[]
  readonly hosted: readonly WebSocketProcess[]
  readonly authority: Authority
  readonly #process: WebSocketProcess

  /** Users do not call this: sessions come from `openWebSocket`. */
  constructor(membership: Membership, process: WebSocketProcess) {
    this.#process = process
    this.processes = membership.processes
    this.nodes = membership.nodes
    this.hosted = [process]
    this.authority = membership.authority
  }

  quiet(): boolean {
    return this.#process.quiet()
  }

  /** Notes that a process is lost: a task of the fabric's own reports it to the sink. */
  lose(peer: number, reason: string): void {
    this.#process.lose(peer, reason)
  }

  close(): Promise<void> {
    return this.#process.close()
  }
}
