import { integerOption } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { RankweaveError, shown } from '../../errors.js'
import { defaultWorldLimits, maxControlLength } from '../protocol/limits.js'
import { relayedHeaderBytes } from '../protocol/messages.js'
import { type ListenOptions, type SocketListener, socketState } from '../socket/socket.js'
import { nodeTransport, type UpgradeListener, upgradeTo } from '../socket/transport-nodejs.js'
import { Rendezvous } from './rendezvous.js'

export interface RendezvousServerOptions extends ListenOptions {
  /** The most bytes of a relayed message of any world. Default: that of worlds. */
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
    maxMessageBytes: longestBytes(maxMessageBytes),
    // The server accepts one connection more per kind, so that those beyond the limits learn why.
    maxConnections: rendezvous.limits.maxSockets + rendezvous.limits.maxPendingSockets,
  })
  return transport.listen!((socket, remote) => rendezvous.accept(socket, remote))
}

/**
 * Mounts a rendezvous in an HTTP or HTTPS server: a listener for the server's event `upgrade`, or for its requests that
 * are for the rendezvous. Requests that do not ask for a WebSocket are answered with status 400 and closed.
 *
 * The server keeps its limits: `headersTimeout` and `maxConnections` hold before `upgrade`, those of the rendezvous
 * after it.
 *
 * @param options `maxMessageBytes`: longest relayed message of any world, in bytes, as in the limits of worlds.
 *   Default: 1 MiB
 * @throws ERR_ARGUMENT unless it is a rendezvous and a positive number of bytes
 */
export function upgradeHandler(
  rendezvous: Rendezvous,
  options: { readonly maxMessageBytes?: number } = {},
): UpgradeListener {
  requireRendezvous('upgradeHandler', rendezvous)
  checkOptions('upgradeHandler', { maxMessageBytes: integerOption({ least: 1 }) }, options)
  const { maxMessageBytes = defaultWorldLimits.maxMessageBytes } = options
  return upgradeTo((socket, remote, greeted) => {
    rendezvous.accept(socket, remote)
    socket.once('message', () => {
      if (socket.readyState === socketState.open) greeted()
    })
  }, longestBytes(maxMessageBytes))
}

/** @throws ERR_ARGUMENT */
export function requireRendezvous(where: string, value: unknown): asserts value is Rendezvous {
  if (value instanceof Rendezvous) return
  throw new RankweaveError('ERR_ARGUMENT', `${where}: expected a Rendezvous, got ${shown(value)}`)
}

/** Returns the most bytes of relayed messages, and of control messages, whose characters take up to 4 bytes. */
function longestBytes(maxMessageBytes: number): number {
  return Math.max(maxMessageBytes + relayedHeaderBytes, 4 * maxControlLength)
}
