import type { Interior } from '../../../src/machine/interior.js'

/** The links of a route, with their names. */
export function steps(interior: Interior, from: number, to: number): { link: number; name: string }[] {
  const links = new Int32Array(interior.longestPath)
  const end = interior.path(from, to, 0, links, 0)
  return Array.from(links.subarray(0, end), (link) => ({ link, name: interior.name(link) }))
}

/** How many messages take each link when every node sends one. */
export function linkLoads(interior: Interior, nodes: number, partner: (node: number) => number): Int32Array {
  const loads = new Int32Array(interior.links)
  for (let node = 0; node < nodes; node++)
    if (partner(node) !== node) for (const { link } of steps(interior, node, partner(node))) loads[link]++
  return loads
}
