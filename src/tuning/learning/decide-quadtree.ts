import type { DecisionNode, DecisionTree } from '../models/decision-tree.js'
import type { Quadtree, QuadtreeNode } from './quadtree.js'
import { cellOfValue, indexNotBelow, valuesBeforeCell } from './replicated-axis.js'

/**
 * Returns the setting of a number of processes and bytes. A number between two values of an axis counts as the larger
 * one, a number outside as the nearest. Allocates nothing.
 */
export function decideByQuadtree(tree: Quadtree, processes: number, bytes: number): number {
  const { side } = tree
  const y = cellOfValue(indexNotBelow(tree.processes, processes), tree.processes.length, side)
  const x = cellOfValue(indexNotBelow(tree.bytes, bytes), tree.bytes.length, side)
  let size = side
  let south = 0
  let west = 0
  let node = tree.root
  while (node.kind === 'split') {
    size /= 2
    const isNorth = y >= south + size
    const isEast = x >= west + size
    if (isNorth) south += size
    if (isEast) west += size
    if (isNorth) node = isEast ? node.northEast : node.northWest
    else node = isEast ? node.southEast : node.southWest
  }
  return node.setting
}

/**
 * Returns a tree of tests with the same decisions as the quadtree: processes first, then bytes. Squares that hold only
 * repetitions of a value are left out, and two leaves with one setting become one.
 *
 * Leaves have no cases: 0.
 */
export function decisionTreeOf(tree: Quadtree): DecisionTree {
  const { settings, processes, bytes, side, root } = tree
  const testsOf = (node: QuadtreeNode, south: number, west: number, size: number): DecisionNode => {
    if (node.kind === 'leaf') return { kind: 'leaf', setting: node.setting, cases: 0, errors: 0 }
    const half = size / 2
    const onBytes = (left: QuadtreeNode, right: QuadtreeNode, from: number) =>
      testOf(
        'bytes',
        bytes,
        side,
        west,
        size,
        () => testsOf(left, from, west, half),
        () => testsOf(right, from, west + half, half),
      )
    const below = () => onBytes(node.southWest, node.southEast, south)
    const above = () => onBytes(node.northWest, node.northEast, south + half)
    return testOf('processes', processes, side, south, size, below, above)
  }
  return { settings, root: testsOf(root, 0, 0, side) }
}

/**
 * Returns the test between both halves of a range of cells, or one half if the other has the first cell of no value.
 */
function testOf(
  attribute: 'processes' | 'bytes',
  values: readonly number[],
  side: number,
  start: number,
  size: number,
  below: () => DecisionNode,
  above: () => DecisionNode,
): DecisionNode {
  const before = (cell: number) => valuesBeforeCell(cell, values.length, side)
  const middle = before(start + size / 2)
  if (middle === before(start + size)) return below()
  if (middle === before(start)) return above()
  const atMost = values[middle - 1]
  const [low, high] = [below(), above()]
  if (low.kind === 'leaf' && high.kind === 'leaf' && low.setting === high.setting) return low
  return { kind: 'threshold', attribute, atMost, below: low, above: high }
}
