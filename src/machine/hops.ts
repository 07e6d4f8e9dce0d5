import { treeShape } from './clos-interior.js'
import { type Machine, requireMachine } from './machine.js'

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
