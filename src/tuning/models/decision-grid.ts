import { RankweaveError, wrongValue } from '../../errors.js'
import type { TuningSetting } from '../settings/setting.js'

/**
 * Decisions as a grid of cells, which online tuning learns between runs. Plain data, which a tuning file holds in place
 * of a tree. 2,754 cells take 11,016 bytes; performances take 4 bytes more for each cell and setting. In a file both
 * are base64.
 *
 * @see Steiner 2023 §4.5.2
 */
export interface DecisionGrid {
  readonly kind: 'grid'
  /** The settings; number i (AlgID) is at place i - 1. */
  readonly settings: readonly TuningSetting[]
  readonly axes: CellAxes
  /**
   * Whether enough settings have enough times. If not, there is no basis for a choice: runs that explore take every
   * setting with equal probability, others leave calls to the default.
   */
  readonly isTrained: boolean
  /** The number of the best setting, by cell, 0 if none is known; little-endian int32 in base64. */
  readonly best: string
  /**
   * The performances, by cell and setting: the least predicted time of the cell over that of the setting, so 0 to 1. A
   * setting with too few times has 0. Little-endian float32 in base64. Absent: the grid is for runs that do not
   * explore.
   */
  readonly performances?: string
  /** The numbers of settings that are never chosen, also not to explore. Absent: none. */
  readonly excluded?: readonly number[]
}

/** A grid whose cells can be read. */
export interface OpenGrid {
  readonly settings: readonly TuningSetting[]
  readonly axes: CellAxes
  readonly isTrained: boolean
  /** The numbers of the best settings, 4 bytes a cell. */
  readonly best: Int32Array
  /** The performances, 4 bytes for each cell and setting, settings of a cell together. */
  readonly performances: Float32Array | undefined
  /** The excluded numbers, as in {@link DecisionGrid}. */
  readonly excluded?: readonly number[]
}

/** Returns the number of a trained grid's setting for a call, or 0 for none. One look-up, allocates nothing. */
export function bestNumber(
  { axes, best }: OpenGrid,
  bytes: number,
  nodes: number,
  processesPerNode: number,
): number {
  return best[cellOf(axes, bytes, nodes, processesPerNode)]
}

/** Returns a grid in the form of a file. */
export function closedGrid({
  settings,
  axes,
  isTrained,
  best,
  performances,
  ...more
}: OpenGrid): DecisionGrid {
  const known = performances === undefined ? {} : { performances: base64Of(performances) }
  return { kind: 'grid', settings, axes, isTrained, best: base64Of(best), ...known, ...more }
}

/**
 * Returns a grid of a file in the form to read: the inverse of {@link closedGrid}.
 *
 * @param where the grid, for messages
 * @throws ERR_TUNING for arrays of another length than the axes and settings give, for values out of range, and for a
 *   cell whose best setting is excluded
 */
export function openGrid(where: string, grid: DecisionGrid): OpenGrid {
  const { settings, axes, isTrained, excluded } = grid
  const never = excluded === undefined ? {} : { excluded }
  const cells = countCells(axes)
  const best = new Int32Array(bytesOfBase64(`${where}.best`, grid.best, 4 * cells))
  const wrong = best.findIndex((number) => number < 0 || number > settings.length)
  if (wrong >= 0)
    throw wrongValue(
      'ERR_TUNING',
      `${where}.best: expected numbers from 0 to ${settings.length}`,
      best[wrong],
    )
  const bestExcluded = best.find((number) => excluded?.includes(number) === true)
  if (bestExcluded !== undefined)
    throw wrongValue('ERR_TUNING', `${where}.best: expected settings that are not excluded`, bestExcluded)
  if (grid.performances === undefined)
    return { settings, axes, isTrained, best, performances: undefined, ...never }
  const bytes = bytesOfBase64(`${where}.performances`, grid.performances, 4 * cells * settings.length)
  const performances = new Float32Array(bytes)
  const odd = performances.find((value) => !(value >= 0 && value <= 1))
  if (odd !== undefined)
    throw wrongValue('ERR_TUNING', `${where}.performances: expected numbers from 0 to 1`, odd)
  return { settings, axes, isTrained, best, performances, ...never }
}

function base64Of(values: Int32Array | Float32Array): string {
  const view = new DataView(new ArrayBuffer(values.byteLength))
  for (let i = 0; i < values.length; i++)
    if (values instanceof Int32Array) view.setInt32(4 * i, values[i], true)
    else view.setFloat32(4 * i, values[i], true)
  let text = ''
  const bytes = new Uint8Array(view.buffer)
  const piece = 0x8000
  for (let at = 0; at < bytes.length; at += piece)
    text += String.fromCharCode(...bytes.subarray(at, at + piece))
  return btoa(text)
}

/** Decodes base64 into bytes in the order of this machine. */
function bytesOfBase64(where: string, text: string, length: number): ArrayBuffer {
  let binary: string
  try {
    binary = atob(text)
  } catch (cause) {
    throw new RankweaveError('ERR_TUNING', `${where}: expected base64`, { cause })
  }
  if (binary.length !== length)
    throw wrongValue('ERR_TUNING', `${where}: expected ${length} bytes`, binary.length)
  const view = new DataView(new ArrayBuffer(length))
  for (let i = 0; i < length; i++) view.setUint8(i, binary.charCodeAt(i))
  const words = new Int32Array(length / 4)
  for (let i = 0; i < words.length; i++) words[i] = view.getInt32(4 * i, true)
  return words.buffer
}

/** Returns the grid of a collective before anything was learned. */
export function emptyGrid(settings: readonly TuningSetting[], axes: CellAxes): OpenGrid {
  return { settings, axes, isTrained: false, best: new Int32Array(countCells(axes)), performances: undefined }
}

/** The edges between the cells of a grid: bytes, nodes and processes per node. */
export interface CellAxes {
  /** The lower edges, ascending. First cells begin at 0 bytes, one node and one process; last ones are open. */
  readonly bytes: readonly number[]
  readonly nodes: readonly number[]
  readonly processesPerNode: readonly number[]
}

/** The numbers of cells along each axis. */
const cellCounts = { bytes: 18, nodes: 17, processesPerNode: 9 } as const

/** The size of the machine, at which linear axes end. The source prints no edges for it. */
interface MachineLimits {
  /** The number of nodes, 1 to 2^22. */
  readonly nodes: number
  /** The number of processes per node, 1 to 2^22. */
  readonly processesPerNode: number
}

const mostOfAxis = 2 ** 22

/**
 * Returns the axes of 18 x 17 x 9 = 2,754 cells. Bytes are spaced exponentially, from 8 B to 8 MiB by a factor of
 * 2^1.25. Nodes and processes per node are spaced linearly up to the limits, by at least one. 32 nodes give 1, 2, 4, 6
 * to 32, and 32 processes give 1, 4, 8 to 32.
 *
 * @throws ERR_ARGUMENT for limits out of range
 * @see Steiner 2023 §4.5.2
 */
export function cellAxes({ nodes, processesPerNode }: MachineLimits): CellAxes {
  for (const [name, value] of Object.entries({ nodes, processesPerNode }))
    if (!Number.isInteger(value) || value < 1 || value > mostOfAxis)
      throw wrongValue('ERR_ARGUMENT', `cells: expected ${name} as an integer from 1 to ${mostOfAxis}`, value)
  const octaves = Array.from({ length: cellCounts.bytes - 1 }, (_, i) => Math.round(8 * 2 ** (1.25 * i)))
  return {
    bytes: [0, ...octaves],
    nodes: linear(nodes, cellCounts.nodes),
    processesPerNode: linear(processesPerNode, cellCounts.processesPerNode),
  }
}

function linear(limit: number, count: number): number[] {
  const edges = [1]
  for (let i = 1; i < count; i++)
    edges.push(Math.max(edges[i - 1] + 1, Math.round((limit * i) / (count - 1))))
  return edges
}

export function countCells({ bytes, nodes, processesPerNode }: CellAxes): number {
  return bytes.length * nodes.length * processesPerNode.length
}

/** Returns the index of the cell of a call: bytes vary fastest, then nodes. Every call has one. Allocates nothing. */
export function cellOf(axes: CellAxes, bytes: number, nodes: number, processesPerNode: number): number {
  const place = cellOfPlace(axes, nodes, processesPerNode)
  return place * axes.bytes.length + intervalOf(axes.bytes, bytes)
}

/** Returns the part of a cell's index that does not depend on bytes, which a communicator looks up once. */
export function cellOfPlace({ nodes, processesPerNode }: CellAxes, ofNodes: number, perNode: number): number {
  return intervalOf(processesPerNode, perNode) * nodes.length + intervalOf(nodes, ofNodes)
}

/** Returns the last edge that is not above a value, or the first one. */
export function intervalOf(edges: readonly number[], value: number): number {
  let [low, high] = [0, edges.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (edges[middle] <= value) low = middle
    else high = middle - 1
  }
  return low
}

/** The lower edges of a cell, which stand for all of its calls. */
interface CellPoint {
  readonly bytes: number
  readonly nodes: number
  readonly processesPerNode: number
}

/** Returns the point of a cell: the inverse of {@link cellOf}. */
export function cellPoint({ bytes, nodes, processesPerNode }: CellAxes, cell: number): CellPoint {
  const place = Math.floor(cell / bytes.length)
  return {
    bytes: bytes[cell % bytes.length],
    nodes: nodes[place % nodes.length],
    processesPerNode: processesPerNode[Math.floor(place / nodes.length)],
  }
}
