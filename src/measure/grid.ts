import { RankweaveError, wrongValue } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import type { ElementType } from '../tuning/measured/measurement.js'
import { isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'

export const measuredOperation = 'sum'

export type MeasuredOrder = 'tree' | 'any'

export interface CallGrid {
  readonly collectives: readonly Collective[]
  readonly spreads: readonly EvenSpread[]
  /** The bytes of the data that MPI's count describes. */
  readonly bytes: readonly number[]
  readonly elementType: ElementType
  /** The weakest orders of combination that serve a reduction. */
  readonly orders: readonly MeasuredOrder[]
  /** The most bytes of an array in a process; calls with longer ones are left out. */
  readonly longestArrayBytes: number
}

/** The collectives in which a process holds a block of every other. */
const blocked: readonly Collective[] = ['scatter', 'gather', 'allgather', 'alltoall', 'reduce-scatter']

export function elementBytes(type: ElementType): number {
  return type === 'float64' ? 8 : 4
}

/** Returns the bytes of the longest array that a process of a call holds. */
function longestArray({ collective, nodes, processesPerNode, bytes }: TuningCall): number {
  return blocked.includes(collective) ? bytes * nodes * processesPerNode : bytes
}

/**
 * Returns the calls of a grid, spread by spread and there by collective, order and bytes. A barrier has one, of 0
 * bytes. Lengths that are not a multiple of an element have no reductions.
 *
 * @throws ERR_MEASUREMENT if nothing is left to measure
 */
export function gridCalls(grid: CallGrid): TuningCall[] {
  const calls = grid.spreads.flatMap((spread) =>
    grid.collectives.flatMap((collective) => {
      const bytes = collective === 'barrier' ? [0] : grid.bytes
      return isReduction(collective)
        ? reductionCalls(grid, spread, collective)
        : bytes.map((length) => ({ collective, ...spread, bytes: length }))
    }),
  )
  const left = calls.filter((call) => longestArray(call) <= grid.longestArrayBytes)
  if (left.length === 0) throw new RankweaveError('ERR_MEASUREMENT', nothingLeft(grid, calls.length))
  return left
}

function nothingLeft({ spreads, elementType, longestArrayBytes }: CallGrid, calls: number): string {
  const expected = 'expected calls to measure, got none:'
  if (spreads.length === 0) return `${expected} there is one process only`
  if (calls === 0)
    return `${expected} no length is a multiple of ${elementType}, ${elementBytes(elementType)} B`
  return `${expected} each has an array of more than ${longestArrayBytes} B in a process`
}

function reductionCalls(
  { orders, bytes, elementType }: CallGrid,
  spread: EvenSpread,
  collective: Collective,
): TuningCall[] {
  const lengths = bytes.filter((length) => length > 0 && length % elementBytes(elementType) === 0)
  return orders.flatMap((order) =>
    lengths.map((length) => ({ collective, ...spread, bytes: length, operation: measuredOperation, order })),
  )
}

/** Returns the powers of two from the first that is not below `from` to the last that is not above `to`. */
export function powersOfTwo(from: number, to: number): number[] {
  const values: number[] = []
  for (let value = 1; value <= to; value *= 2) if (value >= from) values.push(value)
  return values
}

/** An even spread of processes: equally many on each of some nodes. */
export interface EvenSpread {
  readonly nodes: number
  readonly processesPerNode: number
}

export interface PlacedSpread extends EvenSpread {
  /** The processes of every node, as many as the spread says; nodes and processes in ascending order. */
  readonly members: readonly (readonly number[])[]
}

/**
 * Returns the largest even spread among processes that may lie unevenly: equally many processes of every node that has
 * them. Of two with equally many processes, the one on more nodes is returned.
 *
 * @param nodeOf the node of every process, by any number
 */
export function largestSpread(nodeOf: ArrayLike<number>): PlacedSpread {
  const byNode = new Map<number, number[]>()
  for (const [process, node] of Array.from(nodeOf).entries())
    byNode.set(node, [...(byNode.get(node) ?? []), process])
  const nodes = [...byNode.values()]
  let best: PlacedSpread = { nodes: 0, processesPerNode: 0, members: [] }
  for (const processesPerNode of [...new Set(nodes.map(({ length }) => length))].sort((a, b) => a - b)) {
    const members = nodes.flatMap((node) =>
      node.length < processesPerNode ? [] : [node.slice(0, processesPerNode)],
    )
    const isMore = members.length * processesPerNode > best.nodes * best.processesPerNode
    if (isMore) best = { nodes: members.length, processesPerNode, members }
  }
  return best
}

/** Returns the processes of a part of a spread, node by node: the first ones of the first nodes. */
export function membersOf({ members }: PlacedSpread, part: EvenSpread): number[] {
  return members.slice(0, part.nodes).flatMap((node) => node.slice(0, part.processesPerNode))
}

/** Returns spreads of powers of two, and of all, of nodes and of processes per node; two processes at least. */
export function defaultSpreads(largest: EvenSpread): EvenSpread[] {
  return doubled(largest.nodes).flatMap((nodes) =>
    doubled(largest.processesPerNode).flatMap((processesPerNode) =>
      nodes * processesPerNode < 2 ? [] : [{ nodes, processesPerNode }],
    ),
  )
}

function doubled(most: number): number[] {
  const values = [most]
  for (let value = 2 ** Math.floor(Math.log2(most)); value >= 1; value /= 2) values.unshift(value)
  return [...new Set(values)].sort((a, b) => a - b)
}

/** @throws ERR_MEASUREMENT for a spread that exceeds the largest one */
export function requireSpreads(wanted: readonly EvenSpread[], largest: EvenSpread): void {
  for (const spread of wanted) {
    if (spread.nodes <= largest.nodes && spread.processesPerNode <= largest.processesPerNode) continue
    const expected = `expected spreads of at most ${spreadText(largest)}, nodes x processes on each`
    throw wrongValue('ERR_MEASUREMENT', expected, spreadText(spread))
  }
}

/** Returns a text such as `4x2`: nodes x processes on each. */
export function spreadText({ nodes, processesPerNode }: EvenSpread): string {
  return `${nodes}x${processesPerNode}`
}
