import { torusInterior } from '../../machine/interior.js'
import { fail, requireFigures, requireInteger, requireTaper } from './check-input.js'

/** A network as one-way links, numbered from 0, with the routes of messages. */
export interface CongestionNetwork {
  readonly nodes: number
  readonly links: number
  /** The number of messages that a link carries at full speed at the same time. Length: links. */
  readonly capacity: Float64Array
  /**
   * Writes the links of a route into `into` and returns their number.
   *
   * @param side the direction if both are equally long: 1 up, -1 down, 0 as the network chooses
   */
  route(source: number, destination: number, into: Int32Array, side: number): number
  /** The most links of a route. */
  readonly longestRoute: number
}

const mostNodes = 2 ** 20

/**
 * Returns a torus; node x + X y + X Y z is at (x, y, z). Links and routes are those of a machine of kind `torus`, which
 * the simulator uses: one dimension after the other, each on the shorter side. If both sides are equally long, nodes at
 * an even coordinate go up and the others down, which balances them.
 *
 * @param dims extents of any number of dimensions, the fastest first
 * @throws ERR_MODEL
 * @see Sack 2011 §3.1
 */
export function torusNetwork(dims: readonly number[]): CongestionNetwork {
  requireFigures('extents', dims)
  if (dims.length === 0 || dims.length > 16) fail(`expected 1 to 16 dimensions, got ${dims.length}`)
  for (const extent of dims) requireInteger('extents', extent, 1, mostNodes)
  const nodes = dims.reduce((product, extent) => product * extent, 1)
  requireInteger('nodes', nodes, 1, mostNodes)
  const { links, longestPath, path } = torusInterior({ dims, wraps: dims.map(() => true) })
  return {
    nodes,
    links,
    capacity: new Float64Array(links).fill(1),
    longestRoute: longestPath,
    route: (source, destination, into, side) => path(source, destination, 0, into, 0, side),
  }
}

export interface Clos {
  readonly nodes: number
  readonly nodesPerSwitch: number
  /** The share mu of its nodes' bandwidth that a leaf switch can send to the others; above 0, at most 1. */
  readonly taper: number
}

/**
 * Returns a Clos network whose routing balances the links between switches perfectly: messages that leave a leaf switch
 * share `taper * nodesPerSwitch` links.
 *
 * @throws ERR_MODEL
 * @see Sack 2011 §3.1
 */
export function closNetwork(clos: Clos): CongestionNetwork {
  const { nodes, nodesPerSwitch, taper } = Object(clos) as Clos
  requireInteger('nodes', nodes, 1, mostNodes)
  requireInteger('nodesPerSwitch', nodesPerSwitch, 1, nodes)
  requireTaper(taper)
  const switches = Math.ceil(nodes / nodesPerSwitch)
  const links = 2 * nodes + 2 * switches
  const capacity = new Float64Array(links).fill(1, 0, 2 * nodes)
  capacity.fill(taper * nodesPerSwitch, 2 * nodes)
  const switchOf = (node: number): number => Math.floor(node / nodesPerSwitch)
  return {
    nodes,
    links,
    capacity,
    longestRoute: 4,
    route(source, destination, into) {
      if (source === destination) return 0
      into[0] = 2 * source
      into[1] = 2 * destination + 1
      const [from, to] = [switchOf(source), switchOf(destination)]
      if (from === to) return 2
      into[2] = 2 * nodes + 2 * from
      into[3] = 2 * nodes + 2 * to + 1
      return 4
    },
  }
}
