/** The links between routers or switches that connect the network interfaces of nodes, numbered from 0. */
export interface Interior {
  readonly links: number
  /** The most links of a path. */
  readonly longestPath: number
  /**
   * Writes the links between the routers or switches of two different nodes into `into` from `at` on, each plus
   * `first`, and returns the position after the last.
   */
  path(fromNode: number, toNode: number, first: number, into: Int32Array, at: number): number
  /** Returns both ends of a link in words. */
  name(link: number): string
}

/** An interior of one switch that never blocks. */
export const singleSwitch: Interior = {
  links: 0,
  longestPath: 0,
  path: (_fromNode, _toNode, _first, _into, at) => at,
  name: () => '',
}

/** A tree of switches in levels, all of one radix. */
export interface Tree {
  /** The number of ports of every switch. */
  readonly radix: number
  /** The number of levels of switches: 1 is a single switch. */
  readonly levels: number
  /** The number of nodes per leaf switch, whose other ports lead up. All ports if there is one level only. */
  readonly nodesPerLeaf: number
}

/**
 * Returns how many nodes one switch of each level has below it, nodes being level 0. `spread[l]` is the number of
 * switches of level l + 1 that serve the same nodes. Leaf switches have `nodesPerLeaf` ports down and the others up.
 * Switches above have half of their ports down and half up, those of the highest level all down.
 */
export function treeShape({ radix, levels, nodesPerLeaf }: Tree): { below: number[]; spread: number[] } {
  const below = [1]
  const spread = [1]
  for (let level = 1; level <= levels; level++) {
    const down = level === levels ? radix : level === 1 ? nodesPerLeaf : radix / 2
    const up = level === 1 ? radix - nodesPerLeaf : radix / 2
    below.push(below[level - 1] * down)
    if (level < levels) spread.push(spread[level - 1] * up)
  }
  return { below, spread }
}

export function mostNodesOf(tree: Tree): number {
  return treeShape(tree).below[tree.levels]
}

/**
 * Returns a folded Clos network (fat tree) that serves nodes in order, leaf switch by leaf switch; branches without
 * nodes are left out. A message goes up to the first switch above both nodes and then down. The way up depends on the
 * destination alone (D-mod-k, Zahavi): at the switches that serve the same nodes of a level it takes number
 * `destination mod spread`. So messages to one node come down one way, and consecutive destinations are spread evenly.
 *
 * Cables are numbered by level, then by branch, then by the switch above; a cable's link up is even, down odd.
 */
export function closInterior(tree: Tree, nodes: number): Interior {
  const { levels } = tree
  const { below, spread } = treeShape(tree)
  const firstLink = [0]
  for (let level = 1; level < levels; level++) {
    const branches = Math.ceil(nodes / below[level])
    firstLink.push(firstLink[level - 1] + 2 * branches * spread[level])
  }

  return {
    links: firstLink[levels - 1],
    longestPath: 2 * (below.findIndex((room, level) => level > 0 && room >= nodes) - 1),
    path(fromNode, toNode, first, into, at) {
      let level = 1
      for (; branchOf(fromNode, level) !== branchOf(toNode, level); level++)
        into[at++] = first + linkUp(level, branchOf(fromNode, level), toNode % spread[level])
      for (level--; level >= 1; level--)
        into[at++] = first + linkUp(level, branchOf(toNode, level), toNode % spread[level]) + 1
      return at
    },
    name(link) {
      let level = 1
      while (level < levels - 1 && link >= firstLink[level]) level++
      const cable = Math.floor((link - firstLink[level - 1]) / 2)
      const branch = Math.floor(cable / spread[level])
      const above = cable % spread[level]
      const ratio = below[level + 1] / below[level]
      const lower = switchName(level, branch, above % spread[level - 1])
      const upper = switchName(level + 1, Math.floor(branch / ratio), above)
      return link % 2 === 0 ? `${lower} -> ${upper}` : `${upper} -> ${lower}`
    },
  }

  /** Returns the part of the tree below the switches of a level that a node is in. */
  function branchOf(node: number, level: number): number {
    return Math.floor(node / below[level])
  }

  /** Returns the link from the switches of a level to number `above` of those over them. */
  function linkUp(level: number, branch: number, above: number): number {
    return firstLink[level - 1] + 2 * (branch * spread[level] + above)
  }

  function switchName(level: number, branch: number, index: number): string {
    return `switch ${level}.${branch * spread[level - 1] + index}`
  }
}

/** The extents of a grid of routers, one node at each. */
export interface Grid {
  /** The number of nodes per dimension; the first varies fastest with the node's number. */
  readonly dims: readonly number[]
  /** Whether a dimension's last router is linked to its first. */
  readonly wraps: readonly boolean[]
}

export interface RouterLink {
  readonly dimension: number
  /** The router from which the cable leads up: the last of its line if it wraps. */
  readonly lower: number
  readonly upper: number
  /** Whether the link leads up. */
  readonly isUp: boolean
}

interface TorusInterior extends Interior {
  /** @param link numbered from 0 */
  ends(link: number): RouterLink
  /** @param side the direction if both are equally short: 1 up, -1 down, 0 by the source's coordinate */
  path(fromNode: number, toNode: number, first: number, into: Int32Array, at: number, side?: number): number
}

/**
 * Returns routers linked to their neighbors in every dimension, by one link in each direction. Routes are shortest and
 * go dimension by dimension, the first first. If both ways around are equally short, an even coordinate of the source
 * goes up and an odd one down, which balances exchanges at that distance.
 *
 * Cables are numbered by dimension, then by line of routers, then along the line; a cable's link up is even, down odd.
 * A wrapped dimension of two routers has two cables between them, one of a single router none.
 */
export function torusInterior({ dims, wraps }: Grid): TorusInterior {
  const nodes = dims.reduce((product, extent) => product * extent, 1)
  const strides: number[] = []
  const cablesPerLine: number[] = []
  const firstLink: number[] = []
  let [stride, links, longestPath] = [1, 0, 0]
  for (const [d, extent] of dims.entries()) {
    const cables = extent === 1 ? 0 : wraps[d] ? extent : extent - 1
    strides.push(stride)
    cablesPerLine.push(cables)
    firstLink.push(links)
    links += 2 * cables * (nodes / extent)
    longestPath += wraps[d] ? Math.floor(extent / 2) : extent - 1
    stride *= extent
  }

  return {
    links,
    longestPath,
    path(fromNode, toNode, first, into, at, side = 0) {
      let node = fromNode
      for (let d = 0; d < dims.length; d++) {
        const [extent, stride, cables] = [dims[d], strides[d], cablesPerLine[d]]
        const from = Math.floor(node / stride) % extent
        const to = Math.floor(toNode / stride) % extent
        if (from === to) continue
        const line = (node % stride) + Math.floor(node / (stride * extent)) * stride
        const base = first + firstLink[d] + 2 * line * cables
        if (goesUp(from, to, extent, wraps[d], side)) {
          for (let c = from; c !== to; c = c + 1 === extent ? 0 : c + 1) into[at++] = base + 2 * c
        } else {
          for (let c = from; c !== to; ) {
            c = c === 0 ? extent - 1 : c - 1
            into[at++] = base + 2 * c + 1
          }
        }
        node += (to - from) * stride
      }
      return at
    },
    ends,
    name(link) {
      const { lower, upper, isUp } = ends(link)
      return isUp ? `router ${lower} -> router ${upper}` : `router ${upper} -> router ${lower}`
    },
  }

  function ends(link: number): RouterLink {
    const d = dimensionOf(link)
    const [extent, stride, cables] = [dims[d], strides[d], cablesPerLine[d]]
    const cable = Math.floor((link - firstLink[d]) / 2)
    const line = Math.floor(cable / cables)
    const node = (line % stride) + Math.floor(line / stride) * stride * extent
    const lower = node + (cable % cables) * stride
    const upper = node + (((cable % cables) + 1) % extent) * stride
    return { dimension: d, lower, upper, isUp: link % 2 === 0 }
  }

  function dimensionOf(link: number): number {
    let d = dims.length - 1
    while (d > 0 && link < firstLink[d]) d--
    return d
  }
}

/** Returns whether a route goes toward rising coordinates. */
function goesUp(from: number, to: number, extent: number, wraps: boolean, side: number): boolean {
  if (!wraps) return to > from
  const up = to > from ? to - from : to - from + extent
  if (2 * up !== extent) return 2 * up < extent
  return side === 0 ? from % 2 === 0 : side > 0
}
