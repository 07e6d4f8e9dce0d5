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
