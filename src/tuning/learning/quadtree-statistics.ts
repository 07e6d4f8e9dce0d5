import type { Quadtree, QuadtreeNode, QuadtreeSplit } from './quadtree.js'

export interface QuadtreeStatistics {
  readonly leaves: number
  /** The number of nodes, (4 leaves - 1) / 3. */
  readonly nodes: number
  /** The levels below the root of the leaf that is nearest to it; 0 if the root is a leaf. */
  readonly minDepth: number
  /** The mean over the leaves, each counted once, whatever its size. */
  readonly meanDepth: number
  readonly maxDepth: number
}

/** @see Pjesivac-Grbovic 2007 Tables 6.4 and 6.5, whose mean depths are those of leaves */
export function quadtreeStatistics({ root }: Quadtree): QuadtreeStatistics {
  let [leaves, sum, minDepth, maxDepth] = [0, 0, Number.POSITIVE_INFINITY, 0]
  const visit = (node: QuadtreeNode, depth: number): void => {
    if (node.kind === 'split') {
      for (const quarter of quartersOf(node)) visit(quarter, depth + 1)
      return
    }
    leaves++
    sum += depth
    minDepth = Math.min(minDepth, depth)
    maxDepth = Math.max(maxDepth, depth)
  }
  visit(root, 0)
  return { leaves, nodes: quadtreeNodes(leaves), minDepth, meanDepth: sum / leaves, maxDepth }
}

/** Returns the nodes of a tree whose inner nodes have four children each. */
export function quadtreeNodes(leaves: number): number {
  return (4 * leaves - 1) / 3
}

/**
 * Returns the bytes of the source's tree in memory: 48 a node, 2 for each value of both axes of the square, 6 a
 * setting. With 64 x 64 cells and 36 settings it is 48 * nodes + 472, as in all rows of its Table 6.6.
 */
export function quadtreeBytes(nodes: number, side: number, settings: number): number {
  return 48 * nodes + 2 * (side + side) + 6 * settings
}

/** Returns the quarters in the order of the source: north-west, south-west, south-east, north-east. */
export function quartersOf(split: QuadtreeSplit): readonly QuadtreeNode[] {
  return [split.northWest, split.southWest, split.southEast, split.northEast]
}
