/** What connects the network interfaces of nodes: links between routers or switches, numbered from 0. */
export interface Interior {
  readonly links: number
  /** No path has more links. */
  readonly longestPath: number
  /**
   * Writes the links between the routers or switches of two nodes into `into` from `at` on, each plus
   * `first`, and returns the position after the last. The nodes differ.
   */
  path(fromNode: number, toNode: number, first: number, into: Int32Array, at: number): number
  /** Where a link leads from and to, in words. */
  name(link: number): string
}

/** One switch that never blocks. */
export const singleSwitch: Interior = {
  links: 0,
  longestPath: 0,
  path: (_fromNode, _toNode, _first, _into, at) => at,
  name: () => '',
}
