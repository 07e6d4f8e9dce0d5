import { firstNotBelow } from '../../base/search.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import type { DecisionNode, DecisionTree } from '../models/decision-tree.js'
import type { TuningSetting } from '../settings/setting.js'
import { type DecisionMap, missingCells } from './decision-map.js'

/**
 * A decision map as a tree that quarters a square of `side` x `side` cells until no square needs to be quartered.
 *
 * The cells are those of the map, with rows (processes) and columns (bytes) replicated. `side` is the least power of
 * two that is not below their numbers. Cell i of an axis of n values has value floor(i n / side).
 *
 * @see Pjesivac-Grbovic 2007 §5.3
 */
export interface Quadtree {
  readonly settings: readonly TuningSetting[]
  /** The numbers of processes, ascending. */
  readonly processes: readonly number[]
  /** The lengths, ascending. */
  readonly bytes: readonly number[]
  readonly side: number
  readonly root: QuadtreeNode
}

export type QuadtreeNode = QuadtreeLeaf | QuadtreeSplit

interface QuadtreeLeaf {
  readonly kind: 'leaf'
  readonly setting: number
}

/** A square in quarters. North: more processes. East: more bytes. */
interface QuadtreeSplit {
  readonly kind: 'split'
  readonly northWest: QuadtreeNode
  readonly southWest: QuadtreeNode
  readonly southEast: QuadtreeNode
  readonly northEast: QuadtreeNode
}

export interface QuadtreeOptions {
  /** The levels below the root, 0 to 10. Default: as many as an exact tree needs, ceil(log4 of the cells). */
  readonly maxDepth?: number
  /** The share of agreeing cells from which a square is not quartered: above 0, at most 1. Default 1: all agree. */
  readonly threshold?: number
}

/** The most levels. An axis of more values than its square has cells is refused: 2^10 x 2^10 cells. */
const deepest = 10

/**
 * Learns the tree of a map. A square that is not quartered takes the setting of most of its cells. Of equally frequent
 * ones it takes that of its upper right cell (most processes, most bytes) if it is among them, else the lowest. Four
 * quarters with one setting become a leaf.
 *
 * Exact by default: depth at most ceil(log4(side^2)), and every cell keeps its setting.
 *
 * @throws ERR_TUNING for a map with missing cells (`filledMap` fills them), or with more than 1,024 rows or columns
 * @throws ERR_ARGUMENT for options out of range
 */
export function learnQuadtree(map: DecisionMap, options: QuadtreeOptions = {}): Quadtree {
  const { maxDepth = deepest, threshold = 1 } = options
  if (!Number.isInteger(maxDepth) || maxDepth < 0 || maxDepth > deepest)
    throw wrongValue(
      'ERR_ARGUMENT',
      `quadtree: expected maxDepth as an integer from 0 to ${deepest}`,
      maxDepth,
    )
  if (!(threshold > 0 && threshold <= 1))
    throw wrongValue('ERR_ARGUMENT', 'quadtree: expected threshold above 0 and at most 1', threshold)
  const missing = missingCells(map)
  if (missing > 0)
    throw new RankweaveError(
      'ERR_TUNING',
      `quadtree: expected a complete map, got ${missing} cells without one`,
    )
  const { layouts, bytes, settings } = map
  const longest = Math.max(layouts.length, bytes.length)
  if (longest > 2 ** deepest)
    throw wrongValue('ERR_TUNING', `quadtree: expected at most ${2 ** deepest} rows and columns`, longest)
  let side = 1
  while (side < longest) side *= 2
  const cells = squareOf(map, side)
  const root = quartered(
    { cells, side, maxDepth, threshold, counts: new Int32Array(settings.length) },
    0,
    0,
    side,
    0,
  )
  const processes = layouts.map(({ nodes, processesPerNode }) => nodes * processesPerNode)
  return { settings, processes, bytes, side, root }
}

interface Square {
  readonly cells: Int32Array
  readonly side: number
  readonly maxDepth: number
  readonly threshold: number
  /** The counts by setting; zero between uses. */
  readonly counts: Int32Array
}

function squareOf({ layouts, bytes, choice }: DecisionMap, side: number): Int32Array {
  const [rows, columns] = [layouts.length, bytes.length]
  const cells = new Int32Array(side * side)
  for (let y = 0; y < side; y++) {
    const row = valueOfCell(y, rows, side) * columns
    for (let x = 0; x < side; x++) cells[y * side + x] = choice[row + valueOfCell(x, columns, side)]
  }
  return cells
}

function quartered(square: Square, south: number, west: number, size: number, depth: number): QuadtreeNode {
  const { share, setting } = majorityOf(square, south, west, size)
  if (share === 1 || share >= square.threshold || depth === square.maxDepth) return { kind: 'leaf', setting }
  const half = size / 2
  const quarter = (dy: number, dx: number) => quartered(square, south + dy, west + dx, half, depth + 1)
  const [northWest, southWest] = [quarter(half, 0), quarter(0, 0)]
  const [southEast, northEast] = [quarter(0, half), quarter(half, half)]
  const isSame = (node: QuadtreeNode) =>
    node.kind === 'leaf' && northEast.kind === 'leaf' && node.setting === northEast.setting
  if ([northWest, southWest, southEast].every(isSame)) return northEast
  return { kind: 'split', northWest, southWest, southEast, northEast }
}

/** Returns the setting of most cells of a square, by the tie rule, and its share of them. */
function majorityOf(
  { cells, side, counts }: Square,
  south: number,
  west: number,
  size: number,
): { readonly setting: number; readonly share: number } {
  for (let y = south; y < south + size; y++)
    for (let x = west; x < west + size; x++) counts[cells[y * side + x]]++
  let setting = cells[(south + size - 1) * side + west + size - 1]
  let most = counts[setting]
  for (let other = 0; other < counts.length; other++) {
    if (counts[other] <= most) continue
    setting = other
    most = counts[other]
  }
  counts.fill(0)
  return { setting, share: most / (size * size) }
}

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

interface QuadtreeStatistics {
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

// A replicated axis repeats its n values in `cells` cells, at least n: cell i has value floor(i n / cells).

/** Returns the index of the value that a cell repeats. */
function valueOfCell(cell: number, values: number, cells: number): number {
  return Math.floor((cell * values) / cells)
}

/** Returns the first cell of a value, which decides for it. */
function cellOfValue(value: number, values: number, cells: number): number {
  return Math.ceil((value * cells) / values)
}

/** Returns how many values have their first cell before this one. */
export function valuesBeforeCell(cell: number, values: number, cells: number): number {
  return cell === 0 ? 0 : Math.min(values, Math.floor(((cell - 1) * values) / cells) + 1)
}

/** Returns the index of the first value that is not below a number, or the last index. */
function indexNotBelow(ascending: readonly number[], value: number): number {
  return firstNotBelow(ascending, value, 0, ascending.length - 1)
}
