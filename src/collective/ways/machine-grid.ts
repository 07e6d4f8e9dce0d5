import { largestOf, rangeAt } from '../../base/search.js'
import type { Machine } from '../../machine/machine.js'
import { requireCores } from '../../machine/nodes.js'
import { mostPlaces, type ParticipantGrid } from '../patterns/participant-grid.js'
import { stridesOf } from './box.js'

type NodeGrid = Pick<ParticipantGrid, 'dims' | 'wraps'>

/**
 * Returns the grid of a collective's participants on a machine. A torus or mesh has its own grid; the nodes of a
 * cluster and a Clos network form a row, depth first. Every node has as many places as the most participants on one.
 * Those of a node have its first places, in the order of their cores. Participants that fill a grid-shaped part of a
 * torus get that grid, which wraps in dimensions that are as long as the torus. Time: proportional to participants and
 * nodes.
 *
 * @param coreOf the core of every participant, perhaps of several; null if participant i is on core i
 * @returns undefined for more than 2^24 places
 * @throws ERR_MACHINE for a core that the machine does not have
 */
export function gridOfMachine(
  machine: Machine,
  coreOf: ArrayLike<number> | null,
  ranks: number,
): ParticipantGrid | undefined {
  const { cores, firstRank } = machine
  const last = coreOf === null ? ranks : 1 + largestOf(Array.from(coreOf))
  requireCores(last, firstRank[cores.length])
  const nodeOf = Int32Array.from({ length: ranks }, (_, i) => rangeAt(firstRank, coreOf?.[i] ?? i))
  const countOf = new Int32Array(cores.length)
  for (const node of nodeOf) countOf[node]++
  const perNode = largestOf(countOf)
  const { dims, wraps, indexOf } = nodesInGrid(machine, countOf, ranks === perNode * usedNodes(countOf))
  if (dims.reduce((product, extent) => product * extent, perNode) > mostPlaces) return undefined
  const order = Array.from({ length: ranks }, (_, participant) => participant)
  if (coreOf !== null) order.sort((a, b) => coreOf[a] - coreOf[b])
  const place = new Int32Array(ranks)
  const taken = new Int32Array(cores.length)
  for (const participant of order) {
    const node = nodeOf[participant]
    place[participant] = indexOf(node) * perNode + taken[node]++
  }
  const isInOrder = place.every((at, participant) => at === participant)
  return {
    dims,
    wraps,
    ...(perNode === 1 ? {} : { perNode }),
    ...(isInOrder ? {} : { place }),
  }
}

function usedNodes(countOf: Int32Array): number {
  return countOf.reduce((used, count) => used + (count > 0 ? 1 : 0), 0)
}

/** Returns the nodes of the grid, and the grid node of each node of the machine. */
function nodesInGrid(
  machine: Machine,
  countOf: Int32Array,
  isEven: boolean,
): NodeGrid & { indexOf(node: number): number } {
  if (machine.kind === 'torus') {
    const { dims, wraps } = machine
    return (isEven ? filledPart(machine, countOf) : null) ?? { dims, wraps, indexOf: (node) => node }
  }
  const before = new Int32Array(countOf.length + 1)
  countOf.forEach((count, node) => {
    before[node + 1] = before[node] + (count > 0 ? 1 : 0)
  })
  return { dims: [before[countOf.length]], wraps: [false], indexOf: (node) => before[node] }
}

/** Returns the least part of a grid that has all nodes with participants; null if it has other nodes too. */
function filledPart({ dims, wraps }: NodeGrid, countOf: Int32Array) {
  const strides = stridesOf(dims)
  const coordinate = (node: number, d: number): number => Math.floor(node / strides[d]) % dims[d]
  const lows = [...dims]
  const highs = dims.map(() => 0)
  countOf.forEach((count, node) => {
    if (count === 0) return
    for (let d = 0; d < dims.length; d++) {
      lows[d] = Math.min(lows[d], coordinate(node, d))
      highs[d] = Math.max(highs[d], coordinate(node, d))
    }
  })
  const extents = dims.map((_, d) => highs[d] - lows[d] + 1)
  if (extents.reduce((product, extent) => product * extent, 1) !== usedNodes(countOf)) return null
  const partStrides = stridesOf(extents)
  return {
    dims: extents,
    wraps: wraps.map((wrap, d) => wrap && extents[d] === dims[d]),
    indexOf: (node: number) =>
      extents.reduce((index, _, d) => index + (coordinate(node, d) - lows[d]) * partStrides[d], 0),
  }
}
