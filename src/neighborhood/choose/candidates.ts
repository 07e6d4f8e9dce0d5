import { smallestOf } from '../../base/search.js'
import { distinctOut, type NeighborSets } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { windowsOf } from '../strategies/cartesian.js'
import { coveringWidth, type Lanes } from '../strategies/lanes.js'
import type { Strategy } from '../strategies/strategy.js'
import { coveringRadices, evenRadices, offsetRadices, usefulRadices } from './radices.js'
import type { HopLoad } from './route-load.js'

/** A strategy that may be chosen. */
export interface Candidate {
  readonly strategy: Strategy
  /** Per hop, the most messages that a rank sends; null where the strategy does not say. */
  readonly mostPeers: readonly number[] | null
  /** What its ranks do at least, where finding its route is as much work as planning it. */
  readonly leastLoad?: readonly HopLoad[]
}

/**
 * The strategies that are considered, simplest first: of several that take equally long, the first is chosen.
 *
 * @param isMerged whether one block of a rank serves all its destinations
 */
export function candidatesOf(topology: ProcessTopology, nodeOf: Int32Array, isMerged = true): Candidate[] {
  const { ranks } = topology
  if (ranks <= 1) return []
  const { nodes, largest } = nodeSizes(nodeOf)
  return [
    ...allgathers(ranks),
    ...cartesians(topology),
    ...routed(ranks),
    ...(nodes > 1 && largest > 1
      ? [...hierarchical(nodes, largest), ...lanes(nodes, largest), ...pipelined(nodes, largest)]
      : []),
    ...friendGroups(distinctOut(topology), largest > 1, isMerged),
  ]
}

/** How many nodes host ranks, and the most ranks of one. */
export function nodeSizes(nodeOf: Int32Array): { readonly nodes: number; readonly largest: number } {
  const sizes = new Map<number, number>()
  for (const node of nodeOf) sizes.set(node, (sizes.get(node) ?? 0) + 1)
  return { nodes: sizes.size, largest: [...sizes.values()].reduce((most, size) => Math.max(most, size), 0) }
}

const lessOne = (radices: readonly number[]): number[] => radices.map((radix) => radix - 1)
const reversed = (numbers: readonly number[]): number[] => [...numbers].reverse()

/** Useful lists of more than one radix: with one, every block goes straight to its destination. */
function severalRadices(ranks: number): number[][] {
  return usefulRadices(ranks).filter((radices) => radices.length > 1)
}

/** The ordinary allgather, less what no rank needs. */
function allgathers(ranks: number): Candidate[] {
  return severalRadices(ranks).flatMap((radices): Candidate[] => [
    { strategy: { kind: 'allgather', radices, first: 'highest' }, mostPeers: reversed(lessOne(radices)) },
    { strategy: { kind: 'allgather', radices, first: 'lowest' }, mostPeers: lessOne(radices) },
  ])
}

function routed(ranks: number): Candidate[] {
  return severalRadices(ranks).flatMap((radices): Candidate[] => [
    { strategy: { kind: 'routed', radices, first: 'lowest' }, mostPeers: lessOne(radices) },
    { strategy: { kind: 'routed', radices, first: 'highest' }, mostPeers: reversed(lessOne(radices)) },
  ])
}

function hierarchical(nodes: number, largest: number): Candidate[] {
  const byNumber = fewRadices(nodes).flatMap((between) =>
    fewRadices(largest).flatMap((inside): Candidate[] => {
      const [far, near] = [lessOne(between), lessOne(inside)]
      return [
        {
          strategy: { kind: 'hierarchical', between, inside, first: 'between' },
          mostPeers: [...far, ...near],
        },
        {
          strategy: { kind: 'hierarchical', between, inside, first: 'inside' },
          mostPeers: [...near, ...far],
        },
      ]
    }),
  )
  // Digits of offsets do not need products that fit, and the highest first suit them best.
  const byOffset = offsetRadices(nodes).flatMap((between) =>
    offsetRadices(largest).map((inside): Candidate => {
      const digits = { first: 'between', digits: 'offset', order: 'highest' } as const
      return {
        strategy: { kind: 'hierarchical', between, inside, ...digits },
        mostPeers: [...reversed(lessOne(between)), ...reversed(lessOne(inside))],
      }
    }),
  )
  return [...byNumber, ...byOffset]
}

function lanes(nodes: number, largest: number): Candidate[] {
  const candidate = (
    radices: readonly number[],
    shape: Omit<Lanes, 'kind' | 'radices' | 'own'>,
    width: number,
  ): Candidate => {
    // With one digit blocks for the own node need not wait: they share no messages with those of others.
    const own = radices.length > 1 ? 'spread' : 'gather'
    const inside = shape.order === 'highest' ? reversed(lessOne(radices)) : lessOne(radices)
    return {
      strategy: { kind: 'lanes', radices, ...shape, own },
      mostPeers: [...inside, Math.ceil((nodes - 1) / width), ...inside],
    }
  }
  return laneRadices(largest).flatMap((radices) => {
    const covering = coveringWidth(radices, nodes - 1, largest)
    const counts = [1, 2, 4, 8].filter((count) => count < largest && Math.ceil(largest / count) !== covering)
    const digits = { digits: 'offset', order: 'highest' } as const
    const isBinary = radices.length > 1 && radices.every((radix) => radix === 2)
    return [
      candidate(radices, {}, covering),
      ...(isBinary ? [candidate(radices, digits, covering)] : []),
      ...counts.map((count) => candidate(radices, { lanes: count }, Math.ceil(largest / count))),
      ...unevenWidths(largest)
        .filter((widths) => (radices.length === 1) === widths.includes(1) && !isBinary)
        .map((widths) => candidate(radices, { widths }, smallestOf(widths))),
    ]
  })
}

/** Radices that gather and spread the blocks of lanes: one, two even ones, twos, and twos before a 4. */
function laneRadices(largest: number): number[][] {
  const twos = Math.ceil(Math.log2(largest))
  const four = [...new Array<number>(Math.max(0, Math.ceil(Math.log2(largest / 4)))).fill(2), 4]
  const lists = [[largest], reversed(evenRadices(largest, 2)), new Array<number>(twos).fill(2), four]
  return [...new Map(lists.map((digits) => [digits.join('.'), digits])).values()]
}

/**
 * Widths of lanes whose messages arrive one after the other: halves, quarters and eighths of a node, and
 * single ranks.
 */
function unevenWidths(largest: number): number[][] {
  if (largest < 8) return []
  const [half, quarter, eighth] = [2, 4, 8].map((parts) => Math.ceil(largest / parts))
  return [
    [quarter, half, eighth],
    [half, quarter, eighth],
    [quarter, quarter, half],
    [...new Array<number>(largest - quarter).fill(1), quarter],
  ]
}

/**
 * By digits of the distance between nodes, or by a few steps for graphs of which nodes next to each other
 * share edges.
 */
function pipelined(nodes: number, largest: number): Candidate[] {
  const travels = [
    ...fewRadices(nodes).map((between) => ({ between })),
    ...[{ steps: [1, 1] }, { steps: [1, 1], back: [2] }, { steps: [2, 2] }],
    ...[{ steps: [1, 1, 1, 1] }, { steps: [1, 1, 1, 1], back: [2, 2] }],
  ]
  return travels.flatMap((travel) =>
    fewRadices(largest).map(
      (inside): Candidate => ({ strategy: { kind: 'pipelined', ...travel, inside }, mostPeers: null }),
    ),
  )
}

/** Per dimension the windows that cover its offsets, in both orders of dimensions. */
function cartesians(topology: ProcessTopology): Candidate[] {
  const grid = windowsOf(topology)
  if (grid === null || grid.dims.length === 0 || grid.dims.length > 4) return []
  const extents = grid.dims.map((_, d) => grid.high[d] - grid.low[d] + 1)
  const widest = extents.reduce((most, extent) => Math.max(most, extent), 1)
  if (widest > largestWindow) return []
  let choices: number[][][] = [[]]
  for (const extent of extents) {
    const windows = extent <= 1 ? [[]] : windowsFor(extent, extents.length)
    choices = choices.flatMap((chosen) => windows.map((window) => [...chosen, window]))
  }
  const dims = extents.map((_, d) => d)
  return promising(choices).flatMap((windows) =>
    (dims.length === 1 ? [dims] : [dims, reversed(dims)]).map((order): Candidate => {
      const peers = order.flatMap((d) => lessOne(windows[d]))
      return { strategy: { kind: 'cartesian', windows, order }, mostPeers: peers }
    }),
  )
}

/** Windows of all dimensions that are considered at most: see {@link promising}. */
export const mostWindows = 192

/**
 * Of many windows those with the fewest messages and steps, a step being worth none, one or four messages: a
 * third of {@link mostWindows} of each, in the order given.
 */
function promising(choices: readonly number[][][]): readonly number[][][] {
  if (choices.length <= mostWindows) return choices
  const costs = choices.map((windows) => {
    const radices = windows.flat()
    return { messages: radices.reduce((sum, radix) => sum + radix - 1, 0), steps: radices.length }
  })
  const retained = new Set<number>()
  for (const worth of [0, 1, 4]) {
    const cost = (i: number) => costs[i].messages + worth * costs[i].steps
    const byCost = choices.map((_, i) => i).sort((a, b) => cost(a) - cost(b) || a - b)
    for (const i of byCost.slice(0, mostWindows / 3)) retained.add(i)
  }
  return choices.filter((_, i) => retained.has(i))
}

/** Wider ones are no grids worth a search. */
const largestWindow = 32

/** Fewer per dimension where there are many dimensions. */
function windowsFor(extent: number, dims: number): number[][] {
  const windows = coveringRadices(extent).filter((window) => window.length <= 4)
  if (dims <= 2 && extent <= 9) return windows
  return windows.filter((window) => window.length <= 2 || window.every((radix) => radix <= 3)).slice(0, 6)
}

/**
 * Radices of one part of a strategy that has several: those that are useful alone, without the longest odd
 * ones.
 */
function fewRadices(count: number): number[][] {
  const even = new Set<string>()
  for (let length = 1; 2 ** (length - 1) < count; length++) {
    const digits = evenRadices(count, length)
    even.add(digits.join('.'))
    even.add(reversed(digits).join('.'))
  }
  const powers = (digits: readonly number[]) => digits.every((radix) => (radix & (radix - 1)) === 0)
  return usefulRadices(count).filter(
    (digits) => even.has(digits.join('.')) || (powers(digits) && digits.length <= 4),
  )
}

/**
 * Groups of 2, 4 and 8 friends, of falling size, and cumulative ones. A rank with m destinations would at
 * best send its block to k - 1 friends, and m / k combined messages; where every destination has a block of
 * its own, friends get those that they serve.
 */
function friendGroups({ start, rank }: NeighborSets, shareNodes: boolean, isMerged: boolean): Candidate[] {
  const ranks = start.length - 1
  const mean = rank.length / ranks
  const candidate = (strategy: Strategy, k: number): Candidate => {
    const leastLoad: HopLoad[] = [
      { messages: [k - 1, 0], blocks: [isMerged ? k - 1 : mean * (1 - 1 / k), 0] },
      { messages: [mean / k, 0], blocks: [mean, 0] },
    ]
    return { strategy, mostPeers: null, leastLoad }
  }
  // Ranks that are each on its own node have no friends there.
  const modes = shareNodes ? (['aware', 'agnostic'] as const) : (['agnostic'] as const)
  const sizes = [2, 4, 8].filter((k) => k <= ranks)
  return modes.flatMap((mode) => [
    ...sizes.map((k) => candidate({ kind: 'common-neighbor', k, mode }, k)),
    candidate({ kind: 'descending', ks: [4, 3, 2], mode }, 4),
    candidate({ kind: 'cumulative', k: 2, mode }, 2),
  ])
}
