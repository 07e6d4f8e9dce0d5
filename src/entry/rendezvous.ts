/**
 * `rankweave/rendezvous`: where the processes of worlds over WebSockets meet, for servers that mount it.
 *
 * @module rankweave/rendezvous
 */
export {
  type MountedWorld,
  type OpenWorldOptions,
  openWorld,
  upgradeHandler,
} from '../launch/websocket/rendezvous.js'
export type { RanksOptions } from '../launch/websocket/settings.js'
export type { RendezvousLimits, WorldLimits } from '../websocket/protocol/limits.js'
export type { WorldEnd } from '../websocket/rendezvous/hosted-world.js'
export {
  Rendezvous,
  type RendezvousOptions,
  type WorldHandle,
} from '../websocket/rendezvous/rendezvous.js'
export type { Socket } from '../websocket/socket/socket.js'
export type { UpgradeListener } from '../websocket/socket/transport-nodejs.js'
