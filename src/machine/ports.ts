import { shown } from '../errors.js'
import { failMachine } from './profile-figures.js'

/** Messages that a node may send into the network at once. */
export const mostNodePorts = 2 ** 16

/** Options of a machine that limit what its nodes send at once. */
export interface PortOptions {
  /** How many messages a node sends into the network at once, 1 to 2^16. Default null: no limit. */
  readonly ports?: number | null
}

/** The field of a machine; none where there is no limit, as before there were ports. @throws ERR_MACHINE */
export function portsField({ ports = null }: PortOptions): { readonly ports?: number } {
  if (ports === null) return {}
  if (!Number.isInteger(ports) || ports < 1 || ports > mostNodePorts)
    failMachine(`expected 1 to ${mostNodePorts} ports per node, got ${shown(ports)}`)
  return { ports }
}

/** How many messages a node of the machine sends at once; Infinity without a limit. */
export function portsOf({ ports }: PortOptions): number {
  return ports ?? Number.POSITIVE_INFINITY
}
