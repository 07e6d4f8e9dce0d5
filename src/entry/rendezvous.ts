/**
 * `rankweave/rendezvous`: where the processes of worlds over WebSockets meet, for servers that mount it.
 *
 * @module rankweave/rendezvous
 */
export { type MountedWorld, type OpenWorldOptions, openWorld } from '../launch/websocket/rendezvous.js'
export type { RanksOptions } from '../launch/websocket/settings.js'
export type { WorldEnd } from '../rendezvous/hosted-world.js'
export {
  defaultRendezvousLimits,
  defaultWorldLimits,
  maxSettingsLength,
  type RendezvousLimits,
  type WorldLimits,
} from '../rendezvous/protocol/limits.js'
export {
  Rendezvous,
  type RendezvousOptions,
  type WorldHandle,
  type WorldOptions,
} from '../rendezvous/rendezvous.js'
export { upgradeHandler } from '../rendezvous/rendezvous-server-node.js'
export type { Socket } from '../rendezvous/socket.js'
export type { UpgradeListener } from '../rendezvous/transport-node.js'
