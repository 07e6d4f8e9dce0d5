import type { Machine } from './machine.js'
import { failMachine } from './machine-error.js'
import type { Profile } from './profile.js'

/**
 * The network between the nodes of a machine as one-way links, numbered: link `2 n` leads from node n into the network and
 * link `2 n + 1` from the network to node n (its network interface, shared by all its ranks); links between switches or
 * from router to router come after them.
 */
export interface Network {
  readonly nodes: number
  /** Per link. Length: links. */
  readonly latencyNs: Float64Array
  /** Per link: the inverse of its bandwidth. Length: links. */
  readonly nsPerByte: Float64Array
  /** No route has more links. */
  readonly longestRoute: number
  /**
   * Writes the links from one node to another into `into` (at least `longestRoute` long), in order, and returns their number.
   * Deterministic; the nodes differ.
   */
  route(fromNode: number, toNode: number, into: Int32Array): number
}

/** Two arrays of this length are 256 MB. */
export const mostLinks = 2 ** 24

/**
 * The network of a machine. Its two links of every node share the latency of level `network` and have its bandwidth.
 *
 * @throws ERR_MACHINE for a machine without a profile, and beyond {@link mostLinks}
 */
export function networkOf(machine: Machine): Network {
  const profile = profileOf(machine)
  const nodes = machine.cores.length
  const links = 2 * nodes
  if (links > mostLinks) failMachine(`expected at most ${mostLinks} links, got ${links}`)
  const { latencyNs, nsPerByte } = profile.levels.network
  return {
    nodes,
    latencyNs: new Float64Array(links).fill(latencyNs / 2),
    nsPerByte: new Float64Array(links).fill(nsPerByte),
    longestRoute: 2,
    route(fromNode, toNode, into) {
      into[0] = 2 * fromNode
      into[1] = 2 * toNode + 1
      return 2
    },
  }
}

/** @throws ERR_MACHINE for a machine without one */
export function profileOf({ profile }: Machine): Profile {
  if (profile === null)
    return failMachine('expected a machine with a profile, such as profile=simgrid-fast, got none')
  return profile
}
