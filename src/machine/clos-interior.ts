import type { Interior } from './interior.js'

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
