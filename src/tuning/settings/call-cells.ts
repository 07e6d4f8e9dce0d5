import { wrongValue } from '../../errors.js'

/** The edges between the cells of a grid: bytes, nodes and processes per node. */
export interface CellAxes {
  /** The lower edges, ascending. First cells begin at 0 bytes, one node and one process; last ones are open. */
  readonly bytes: readonly number[]
  readonly nodes: readonly number[]
  readonly processesPerNode: readonly number[]
}

/** The numbers of cells along each axis. */
export const cellCounts = { bytes: 18, nodes: 17, processesPerNode: 9 } as const

/** The size of the machine, at which linear axes end. The source prints no edges for it. */
export interface MachineLimits {
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
export interface CellPoint {
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
