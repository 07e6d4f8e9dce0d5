import { largestOf } from '../base/search.js'
import { shown } from '../errors.js'
import { closInterior, type Interior, singleSwitch, torusInterior, treeShape } from './interior.js'
import { type Machine, requireMachine } from './machine.js'
import { failMachine, figuresOf, type Profile, provenances } from './profile.js'

/**
 * The network between the nodes of a machine as one-way links, numbered. Link `2 n` leads from node n into the network
 * and link `2 n + 1` from the network to node n (its network interface, shared by all its ranks). Links between
 * switches or from router to router come after them.
 */
export interface Network {
  readonly nodes: number
  /** The latency of each link. Length: links. */
  readonly latencyNs: Float64Array
  /** The inverse bandwidth of each link. Length: links. */
  readonly nsPerByte: Float64Array
  /** The most links of a route. */
  readonly longestRoute: number
  /**
   * Writes the links from one node to another into `into` (at least `longestRoute` long), in order, and returns their
   * number. Deterministic; the nodes differ.
   */
  route(fromNode: number, toNode: number, into: Int32Array): number
}

/** The most links of a network: two arrays of this length are 256 MB. */
const mostLinks = 2 ** 24

/**
 * Returns the network of a machine. Its two links of every node share the latency of level `network` and have its
 * bandwidth.
 *
 * @throws ERR_MACHINE for a machine without a profile, and beyond {@link mostLinks}
 */
export function networkOf(machine: Machine): Network {
  requireMachine(machine)
  const profile = profileOf(machine)
  const nodes = machine.cores.length
  const interior = interiorOf(machine)
  const links = 2 * nodes + interior.links
  const { latencyNs, nsPerByte } = profile.levels.network
  return {
    nodes,
    latencyNs: new Float64Array(links)
      .fill(latencyNs / 2, 0, 2 * nodes)
      .fill(profile.hop.latencyNs, 2 * nodes),
    nsPerByte: new Float64Array(links).fill(nsPerByte, 0, 2 * nodes).fill(profile.hop.nsPerByte, 2 * nodes),
    longestRoute: 2 + interior.longestPath,
    route(fromNode, toNode, into) {
      into[0] = 2 * fromNode
      const end = interior.path(fromNode, toNode, 2 * nodes, into, 1)
      into[end] = 2 * toNode + 1
      return end + 1
    },
  }
}

/**
 * Returns the links of {@link networkOf} between two nodes, in order; none from a node to itself. Needs no profile.
 *
 * @throws ERR_MACHINE for a node that the machine does not have, and beyond {@link mostLinks}
 */
export function routeBetween(machine: Machine, fromNode: number, toNode: number): Int32Array {
  requireMachine(machine)
  const nodes = machine.cores.length
  for (const node of [fromNode, toNode])
    if (!Number.isInteger(node) || node < 0 || node >= nodes)
      failMachine(`expected a node from 0 to ${nodes - 1}, got ${shown(node)}`)
  if (fromNode === toNode) return new Int32Array(0)
  const interior = interiorOf(machine)
  const links = new Int32Array(2 + interior.longestPath)
  links[0] = 2 * fromNode
  const end = interior.path(fromNode, toNode, 2 * nodes, links, 1)
  links[end] = 2 * toNode + 1
  return links.slice(0, end + 1)
}

/**
 * Returns both ends of a link of the machine's network in words.
 *
 * @throws ERR_MACHINE for a link that it does not have
 */
export function linkName(machine: Machine, link: number): string {
  requireMachine(machine)
  const nodes = machine.cores.length
  const interior = interiorOf(machine)
  if (!Number.isInteger(link) || link < 0 || link >= 2 * nodes + interior.links)
    failMachine(`expected a link from 0 to ${2 * nodes + interior.links - 1}, got ${shown(link)}`)
  if (link >= 2 * nodes) return interior.name(link - 2 * nodes)
  const node = Math.floor(link / 2)
  return link % 2 === 0 ? `node ${node} -> network` : `network -> node ${node}`
}

/**
 * Returns the links between the network interfaces of a machine's nodes.
 *
 * @throws ERR_MACHINE beyond {@link mostLinks}
 */
export function interiorOf(machine: Machine): Interior {
  const interior = interiorOfKind(machine)
  const links = 2 * machine.cores.length + interior.links
  if (links > mostLinks) failMachine(`expected at most ${mostLinks} links, got ${links}`)
  return interior
}

function interiorOfKind(machine: Machine): Interior {
  switch (machine.kind) {
    case 'cluster':
      return singleSwitch
    case 'torus':
      return torusInterior(machine)
    case 'clos':
      return closInterior(machine, machine.cores.length)
  }
}

/** @throws ERR_MACHINE for a machine without one */
export function profileOf({ profile }: Pick<Machine, 'profile'>): Profile {
  // JSON may leave the profile out, so it may be undefined.
  if (typeof profile !== 'object' || profile === null)
    return failMachine('expected a machine with a profile, such as profile=simgrid-fast, got none')
  return profile
}

/**
 * Returns a function of two nodes that counts the hops between them. These are the links of a shortest way in a torus,
 * otherwise the switches that a message passes. It is symmetric, and 0 from a node to itself.
 *
 * @throws ERR_MACHINE
 */
export function hopsBetween(machine: Machine): (nodeA: number, nodeB: number) => number {
  requireMachine(machine)
  switch (machine.kind) {
    case 'cluster':
      return (a, b) => (a === b ? 0 : 1)
    case 'torus':
      return hopsInTorus(machine.dims, machine.wraps)
    case 'clos':
      return hopsInTree(treeShape(machine).below)
  }
}

function hopsInTorus(dims: readonly number[], wraps: readonly boolean[]): (a: number, b: number) => number {
  return (nodeA, nodeB) => {
    let [a, b, hops] = [nodeA, nodeB, 0]
    for (let d = 0; d < dims.length; d++) {
      const extent = dims[d]
      const apart = Math.abs((a % extent) - (b % extent))
      hops += wraps[d] ? Math.min(apart, extent - apart) : apart
      a = Math.floor(a / extent)
      b = Math.floor(b / extent)
    }
    return hops
  }
}

/** @param below how many nodes are below a switch of each level */
function hopsInTree(below: readonly number[]): (a: number, b: number) => number {
  return (a, b) => {
    if (a === b) return 0
    let level = 1
    while (Math.floor(a / below[level]) !== Math.floor(b / below[level])) level++
    return 2 * level - 1
  }
}

/**
 * Returns the name of a profile with the provenance of its costs, for reports of times made from them: `niagara (costs
 * assumed, levels.network.nsPerByte given)`. Costs that are given have their source.
 */
export function profileOrigin(profile: Profile): string {
  const { name, provenance, source, exceptions } = profile
  const figures = figuresOf(profile)
  const others = provenances.flatMap((other) => {
    const count = figures.filter(({ origin }) => origin.provenance === other).length
    if (other === provenance || count === 0) return []
    const parts = Object.keys(exceptions).filter((part) => exceptions[part].provenance === other)
    return [`${parts.length <= mostNamed ? listed(parts) : `${count} of them`} ${other}`]
  })
  const costs = provenance === 'given' ? [`costs given: ${source}`] : [`costs ${provenance}`]
  return `${name} (${[...costs, ...others].join(provenance === 'given' ? '; ' : ', ')})`
}

/** The most exceptions of one provenance that are named; of more, the figures are counted. */
const mostNamed = 3

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

/** Returns a sentence on why times on a machine are less certain than they look, or null. */
export function profileRemark({ cores, profile }: Machine): string | null {
  const { coresPerNode, name } = profile ?? {}
  const most = largestOf(cores)
  if (coresPerNode === undefined || most <= coresPerNode) return null
  return `Profile ${name} describes nodes of ${coresPerNode} cores; this machine has nodes of ${most}.`
}
