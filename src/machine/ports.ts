import { shown } from '../errors.js'
import { failMachine } from './profile-figures.js'

/** The most messages that a node may send into the network at once. */
export const mostNodePorts = 2 ** 16

/** The options of a machine that limit how many messages its nodes send at once. */
export interface PortOptions {
  /** The number of messages that a node sends into the network at once, 1 to 2^16. Default null: no limit. */
  readonly ports?: number | null
}

/** Returns the field `ports` of a machine, absent if there is no limit. @throws ERR_MACHINE */
export function portsField({ ports = null }: PortOptions): { readonly ports?: number } {
  if (ports === null) return {}
  if (!Number.isInteger(ports) || ports < 1 || ports > mostNodePorts)
    failMachine(`expected 1 to ${mostNodePorts} ports per node, got ${shown(ports)}`)
  return { ports }
}

/** Returns how many messages a node of the machine sends at once; Infinity without a limit. */
export function portsOf({ ports }: PortOptions): number {
  return ports ?? Number.POSITIVE_INFINITY
}
