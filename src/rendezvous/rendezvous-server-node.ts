import { defaultWorldLimits, maxControlLength } from './protocol/limits.js'
import { relayedHeaderBytes } from './protocol/relayed.js'
import type { Rendezvous } from './rendezvous.js'
import type { SocketListener } from './socket.js'
import { nodeTransport } from './transport-node.js'

export interface RendezvousServerOptions {
  /** Address to listen on. Default `127.0.0.1`: this host only. Beyond it, use TLS: tokens travel in the first message. */
  readonly host?: string
  /** Default 0: any that is free. */
  readonly port?: number
  /** Host in the URL that members dial. Default: `host`. */
  readonly advertisedHost?: string
  /** Certificate and key in PEM. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Longest relayed message of any world. Default: that of worlds. */
  readonly maxMessageBytes?: number
}

/**
 * Listens for members of a rendezvous. Closing it ends neither worlds nor sockets: close the rendezvous first.
 *
 * @throws ERR_FABRIC when the address cannot be listened on, or certificate and key do not fit
 */
export function listenRendezvous(
  rendezvous: Rendezvous,
  { maxMessageBytes = defaultWorldLimits.maxMessageBytes, ...options }: RendezvousServerOptions = {},
): Promise<SocketListener> {
  const transport = nodeTransport({
    ...options,
    maxMessageBytes: Math.max(maxMessageBytes + relayedHeaderBytes, 4 * maxControlLength),
    // One more per kind, so that those beyond the limits are told so.
    maxConnections: rendezvous.limits.maxSockets + rendezvous.limits.maxPendingSockets,
  })
  return transport.listen!((socket) => rendezvous.accept(socket))
}
