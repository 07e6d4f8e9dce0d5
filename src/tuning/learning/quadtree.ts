import { RankweaveError, wrongValue } from '../../errors.js'
import type { TuningSetting } from '../settings/setting.js'
import { type DecisionMap, missingCells } from './decision-map.js'
import { valueOfCell } from './replicated-axis.js'

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

export interface QuadtreeLeaf {
  readonly kind: 'leaf'
  readonly setting: number
}

/** A square in quarters. North: more processes. East: more bytes. */
export interface QuadtreeSplit {
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
