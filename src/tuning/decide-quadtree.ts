import type { DecisionNode, DecisionTree } from './decision-tree.js'
import type { Quadtree, QuadtreeNode } from './quadtree.js'
import { indexNotBelow, replicatedAxis } from './replicated-axis.js'

/**
 * The setting of a number of processes and bytes. What lies between two values of an axis counts as the larger
 * one; what lies outside counts as the nearest.
 */
export function decideByQuadtree(tree: Quadtree, processes: number, bytes: number): number {
  const { side } = tree
  const y = replicatedAxis(tree.processes.length, side).cellOf(indexNotBelow(tree.processes, processes))
  const x = replicatedAxis(tree.bytes.length, side).cellOf(indexNotBelow(tree.bytes, bytes))
  let [south, west, size] = [0, 0, side]
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
 * The quadtree as a tree of tests, which decides alike: processes first, then bytes. Squares that hold only
 * repetitions of a value are left out, and two leaves with one setting become one.
 *
 * Leaves have no cases: 0.
 */
export function decisionTreeOf(tree: Quadtree): DecisionTree {
  const { settings, processes, bytes, side, root } = tree
  const rows = replicatedAxis(processes.length, side)
  const columns = replicatedAxis(bytes.length, side)
  const testsOf = (node: QuadtreeNode, south: number, west: number, size: number): DecisionNode => {
    if (node.kind === 'leaf') return { kind: 'leaf', setting: node.setting, cases: 0, errors: 0 }
    const half = size / 2
    const northern = { west: node.northWest, east: node.northEast }
    const southern = { west: node.southWest, east: node.southEast }
    const onBytes = (pair: typeof northern, from: number) => {
      const left = () => testsOf(pair.west, from, west, half)
      const right = () => testsOf(pair.east, from, west + half, half)
      return test('bytes', bytes, columns.valuesBefore, [west, west + half, west + size], left, right)
    }
    const below = () => onBytes(southern, south)
    const above = () => onBytes(northern, south + half)
    return test('processes', processes, rows.valuesBefore, [south, south + half, south + size], below, above)
  }
  return { settings, root: testsOf(root, 0, 0, side) }
}

/** A test of an axis between two ranges of cells, where each has the first cell of a value. */
function test(
  attribute: 'processes' | 'bytes',
  values: readonly number[],
  valuesBefore: (cell: number) => number,
  [start, middle, end]: readonly [number, number, number],
  below: () => DecisionNode,
  above: () => DecisionNode,
): DecisionNode {
  const before = (cell: number) => (cell === 0 ? 0 : valuesBefore(cell))
  if (before(middle) === before(end)) return below()
  if (before(middle) === before(start)) return above()
  const atMost = values[before(middle) - 1]
  const [low, high] = [below(), above()]
  if (low.kind === 'leaf' && high.kind === 'leaf' && low.setting === high.setting) return low
  return { kind: 'threshold', attribute, atMost, below: low, above: high }
}
