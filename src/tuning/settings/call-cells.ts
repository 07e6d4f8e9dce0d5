import { wrongValue } from '../../errors.js'

/** Which cell of a grid a call is in: bytes, nodes and processes per node, each between two of these marks. */
export interface CellAxes {
  /** Lower edges, ascending; the first cells begin at 0 bytes, one node and one process, the last have no upper edge. */
  readonly bytes: readonly number[]
  readonly nodes: readonly number[]
  readonly processesPerNode: readonly number[]
}

/** Numbers of cells along each axis. */
export const cellCounts = { bytes: 18, nodes: 17, processesPerNode: 9 } as const

/** What the source prints no edges for: how large the machine is, so that linear axes reach its end. */
export interface MachineLimits {
  /** 1 to 2^22. */
  readonly nodes: number
  /** 1 to 2^22. */
  readonly processesPerNode: number
}

const mostOfAxis = 2 ** 22

/**
 * The axes of 18 x 17 x 9 = 2,754 cells. Bytes are spaced exponentially, from 8 B to 8 MiB by a factor of 2^1.25.
 * Nodes and processes per node are spaced linearly up to the limits, by one at least: 32 nodes give 1, 2, 4, 6 to 32,
 * and 32 processes give 1, 4, 8 to 32.
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

/** Cells of a grid. */
export function countCells({ bytes, nodes, processesPerNode }: CellAxes): number {
  return bytes.length * nodes.length * processesPerNode.length
}

/** The index of the cell of a call: bytes vary fastest, then nodes. Every call has one. Allocates nothing. */
export function cellOf(axes: CellAxes, bytes: number, nodes: number, processesPerNode: number): number {
  const place = cellOfPlace(axes, nodes, processesPerNode)
  return place * axes.bytes.length + intervalOf(axes.bytes, bytes)
}

/** The part of a cell's index that does not depend on bytes, which a communicator looks up once. */
export function cellOfPlace({ nodes, processesPerNode }: CellAxes, ofNodes: number, perNode: number): number {
  return intervalOf(processesPerNode, perNode) * nodes.length + intervalOf(nodes, ofNodes)
}

/** The last edge that is not above a value; the first of values below all. */
export function intervalOf(edges: readonly number[], value: number): number {
  let [low, high] = [0, edges.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (edges[middle] <= value) low = middle
    else high = middle - 1
  }
  return low
}

/** What stands for all calls of a cell: its lower edges. */
export interface CellPoint {
  readonly bytes: number
  readonly nodes: number
  readonly processesPerNode: number
}

/** The inverse of {@link cellOf}. */
export function cellPoint({ bytes, nodes, processesPerNode }: CellAxes, cell: number): CellPoint {
  const place = Math.floor(cell / bytes.length)
  return {
    bytes: bytes[cell % bytes.length],
    nodes: nodes[place % nodes.length],
    processesPerNode: processesPerNode[Math.floor(place / nodes.length)],
  }
}
