import { integerOption, type OptionTable, uncheckedOptions } from '../../base/option.js'
import { checkOptions, givenOptions } from '../../base/option-table.js'
import { RankweaveError, shown } from '../../errors.js'
import { ownVersion } from '../../package-paths.js'
import { defaultWorldLimits, maxControlLength, type WorldLimits } from '../../websocket/protocol/limits.js'
import { relayedHeaderBytes } from '../../websocket/protocol/messages.js'
import {
  type AwaitedWorldOptions,
  Rendezvous,
  type WorldHandle,
} from '../../websocket/rendezvous/rendezvous.js'
import { type ListenOptions, type SocketListener, socketState } from '../../websocket/socket/socket.js'
import { nodeTransport, type UpgradeListener, upgradeTo } from '../../websocket/socket/transport-nodejs.js'
import { type RanksOptions, ranksOptions, settingsOf } from './settings.js'

interface RendezvousWorld {
  readonly url: string
  readonly world: WorldHandle
  /** Ends the world, if it has not ended, and stops listening. */
  close(reason: string): Promise<void>
}

/**
 * Opens a rendezvous for one world, in this process.
 * @throws ERR_WORLD, ERR_ARGUMENT for options; ERR_FABRIC when it cannot listen
 */
export async function openRendezvous(
  options: AwaitedWorldOptions,
  listen: ListenOptions = {},
): Promise<RendezvousWorld> {
  const rendezvous = new Rendezvous()
  const world = rendezvous.createWorld({ version: ownVersion(), ...options })
  const { url, close } = await listenRendezvous(rendezvous, listen)
  return {
    url,
    world,
    close: (reason) => {
      rendezvous.close(reason)
      return close()
    },
  }
}

export interface OpenWorldOptions extends RanksOptions {
  /** The SHA-256 of the program's file, in hex, that processes must run. Default: that of the first to join. */
  readonly program?: string
  /**
   * The checksum of the tuning file that processes must have. Default: that of the first to join, which may have none.
   */
  readonly tuning?: string
  /** The limits. Default: those of docs/websocket.md. */
  readonly limits?: Partial<WorldLimits>
  /** @internal The number of processes of the host's own: see `WorldOptions`. */
  readonly own?: number
  /** @internal Reports a lost process, before the others learn it. */
  readonly onLost?: (process: number, reason: string) => void
}

/** A world of a mounted rendezvous. */
export interface MountedWorld extends WorldHandle {
  readonly ranks: number
  readonly processes: number
}

/**
 * Opens a world of ranks on a rendezvous, for processes that `join` it, by `rankweave join` or from code. They must
 * have this version of Rankweave. It waits for its processes for as long as it takes; `close` ends the wait.
 *
 * @throws ERR_WORLD for numbers that do not agree; ERR_ARGUMENT for options; ERR_LIMIT when there are too many worlds;
 *   ERR_WORLD_LOST when the rendezvous is closed
 */
export function openWorld(rendezvous: Rendezvous, options: OpenWorldOptions): MountedWorld {
  requireRendezvous('openWorld', rendezvous)
  checkOptions('openWorld', openWorldOptions, options)
  const { program, tuning, limits, own = 0, onLost, ...ofRanks } = options
  const { processes, settings } = settingsOf('openWorld', ofRanks)
  const world = rendezvous.createWorld({
    ...{ processes, own, settings, version: ownVersion() },
    ...givenOptions({ program, tuning, limits, onLost }),
  })
  return { ...world, ranks: options.ranks, processes }
}

const openWorldOptions: OptionTable<OpenWorldOptions> = {
  ...ranksOptions,
  ...uncheckedOptions('program', 'tuning', 'limits', 'own', 'onLost'),
}

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
function requireRendezvous(where: string, value: unknown): asserts value is Rendezvous {
  if (value instanceof Rendezvous) return
  throw new RankweaveError('ERR_ARGUMENT', `${where}: expected a Rendezvous, got ${shown(value)}`)
}

/** Returns the most bytes of relayed messages, and of control messages, whose characters take up to 4 bytes. */
function longestBytes(maxMessageBytes: number): number {
  return Math.max(maxMessageBytes + relayedHeaderBytes, 4 * maxControlLength)
}
