import { smallestOf } from '../../base/search.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { windowsOf } from '../strategies/cartesian.js'
import { coveringWidth, type Lanes } from '../strategies/lanes.js'
import type { Strategy } from '../strategies/strategy.js'
import { coveringRadices, evenRadices, offsetRadices, usefulRadices } from './radices.js'

/** The number of nodes that host ranks, and the most ranks of one. */
export interface NodeSizes {
  readonly nodes: number
  readonly largest: number
}

export function nodeSizes(nodeOf: Int32Array): NodeSizes {
  const sizes = new Map<number, number>()
  for (const node of nodeOf) sizes.set(node, (sizes.get(node) ?? 0) + 1)
  return { nodes: sizes.size, largest: [...sizes.values()].reduce((most, size) => Math.max(most, size), 0) }
}

/** Lists the strategies to consider, simplest first: of several that take equally long, the first is chosen. */
export function candidatesOf(topology: ProcessTopology, nodeOf: Int32Array): Strategy[] {
  const { ranks } = topology
  if (ranks <= 1) return [{ kind: 'direct' }]
  const { nodes, largest } = nodeSizes(nodeOf)
  // A single radix would send every block straight to its destination.
  const several = usefulRadices(ranks).filter((radices) => radices.length > 1)
  return [
    { kind: 'direct' },
    ...several.flatMap((radices): Strategy[] => [
      { kind: 'allgather', radices, first: 'highest' },
      { kind: 'allgather', radices, first: 'lowest' },
    ]),
    ...cartesians(topology),
    ...several.flatMap((radices): Strategy[] => [
      { kind: 'routed', radices, first: 'lowest' },
      { kind: 'routed', radices, first: 'highest' },
    ]),
    ...(nodes > 1 && largest > 1
      ? [...hierarchical(nodes, largest), ...lanes(nodes, largest), ...pipelined(nodes, largest)]
      : []),
    ...friendGroups(ranks, largest > 1),
  ]
}

const lessOne = (radices: readonly number[]): number[] => radices.map((radix) => radix - 1)
const reversed = (numbers: readonly number[]): number[] => [...numbers].reverse()

/**
 * Returns per hop of a candidate's route the most messages that a rank sends; null if the strategy does not bound them.
 */
export function mostMessages(strategy: Strategy, { nodes, largest }: NodeSizes): number[] | null {
  const inOrder = (radices: readonly number[], order = 'lowest'): number[] =>
    order === 'highest' ? reversed(lessOne(radices)) : lessOne(radices)
  switch (strategy.kind) {
    case 'routed':
    case 'allgather':
      return inOrder(strategy.radices!, strategy.first)
    case 'hierarchical': {
      const far = inOrder(strategy.between!, strategy.order)
      const near = inOrder(strategy.inside!, strategy.order)
      return strategy.first === 'inside' ? [...near, ...far] : [...far, ...near]
    }
    case 'lanes': {
      const inside = inOrder(strategy.radices!, strategy.order)
      return [...inside, Math.ceil((nodes - 1) / narrowestLane(strategy, nodes, largest)), ...inside]
    }
    case 'cartesian':
      return strategy.order!.flatMap((d) => lessOne(strategy.windows![d]))
    default:
      return null
  }
}

function narrowestLane({ radices, lanes: count, widths }: Lanes, nodes: number, largest: number): number {
  if (widths !== undefined) return smallestOf(widths)
  return count === undefined ? coveringWidth(radices!, nodes - 1, largest) : Math.ceil(largest / count)
}

function hierarchical(nodes: number, largest: number): Strategy[] {
  const kind = 'hierarchical'
  const byNumber = fewRadices(nodes).flatMap((between) =>
    fewRadices(largest).flatMap((inside): Strategy[] => [
      { kind, between, inside, first: 'between' },
      { kind, between, inside, first: 'inside' },
    ]),
  )
  // Digits of offsets do not need a fitting product, and suit the order highest first best.
  const byOffset = offsetRadices(nodes).flatMap((between) =>
    offsetRadices(largest).map(
      (inside): Strategy => ({ kind, between, inside, first: 'between', digits: 'offset', order: 'highest' }),
    ),
  )
  return [...byNumber, ...byOffset]
}

function lanes(nodes: number, largest: number): Strategy[] {
  return laneRadices(largest).flatMap((radices) => {
    const covering = coveringWidth(radices, nodes - 1, largest)
    const counts = [1, 2, 4, 8].filter((count) => count < largest && Math.ceil(largest / count) !== covering)
    const isBinary = radices.length > 1 && radices.every((radix) => radix === 2)
    const shapes: Pick<Lanes, 'lanes' | 'widths' | 'digits' | 'order'>[] = [
      {},
      ...(isBinary ? [{ digits: 'offset', order: 'highest' } as const] : []),
      ...counts.map((count) => ({ lanes: count })),
      ...unevenWidths(largest)
        .filter((widths) => (radices.length === 1) === widths.includes(1) && !isBinary)
        .map((widths) => ({ widths })),
    ]
    // Blocks for the own node need not wait if there is one digit, because they share no messages with those of other
    // nodes.
    const own = radices.length > 1 ? 'spread' : 'gather'
    return shapes.map((shape): Strategy => ({ kind: 'lanes', radices, ...shape, own }))
  })
}

/** Lists radices that gather and spread the blocks of lanes: one, two even ones, twos, and twos before a 4. */
function laneRadices(largest: number): number[][] {
  const twos = Math.ceil(Math.log2(largest))
  const four = [...new Array<number>(Math.max(0, Math.ceil(Math.log2(largest / 4)))).fill(2), 4]
  const lists = [[largest], reversed(evenRadices(largest, 2)), new Array<number>(twos).fill(2), four]
  return [...new Map(lists.map((digits) => [digits.join('.'), digits])).values()]
}

/**
 * Lists widths of lanes whose messages arrive one after the other: halves, quarters and eighths of a node, and single
 * ranks.
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
 * Lists pipelined strategies: by digits of the distance between nodes, or by a few steps for graphs in which adjacent
 * nodes share edges.
 */
function pipelined(nodes: number, largest: number): Strategy[] {
  const travels = [
    ...fewRadices(nodes).map((between) => ({ between })),
    ...[{ steps: [1, 1] }, { steps: [1, 1], back: [2] }, { steps: [2, 2] }],
    ...[{ steps: [1, 1, 1, 1] }, { steps: [1, 1, 1, 1], back: [2, 2] }],
  ]
  return travels.flatMap((travel) =>
    fewRadices(largest).map((inside): Strategy => ({ kind: 'pipelined', ...travel, inside })),
  )
}

/** Lists per dimension the windows that cover its offsets, in both orders of dimensions. */
function cartesians(topology: ProcessTopology): Strategy[] {
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
    (dims.length === 1 ? [dims] : [dims, reversed(dims)]).map(
      (order): Strategy => ({ kind: 'cartesian', windows, order }),
    ),
  )
}

/** The most windows of all dimensions that are considered: see {@link promising}. */
export const mostWindows = 192

/**
 * Selects windows with the fewest messages and steps, where a step counts as none, one or four messages. It takes a
 * third of {@link mostWindows} for each weight, in the order given.
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

/** Grids with wider windows are not worth a search. */
const largestWindow = 32

/** Lists windows for a dimension, fewer if there are many dimensions. */
function windowsFor(extent: number, dims: number): number[][] {
  const windows = coveringRadices(extent).filter((window) => window.length <= 4)
  if (dims <= 2 && extent <= 9) return windows
  return windows.filter((window) => window.length <= 2 || window.every((radix) => radix <= 3)).slice(0, 6)
}

/** Lists radices for one part of a strategy that has several: those useful alone, without the longest odd ones. */
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

/** Lists groups of 2, 4 and 8 friends, of falling size, and cumulative ones. */
function friendGroups(ranks: number, shareNodes: boolean): Strategy[] {
  // Ranks that are alone on their nodes have no friends there.
  const modes = shareNodes ? (['aware', 'agnostic'] as const) : (['agnostic'] as const)
  const sizes = [2, 4, 8].filter((k) => k <= ranks)
  return modes.flatMap((mode): Strategy[] => [
    ...sizes.map((k): Strategy => ({ kind: 'common-neighbor', k, mode })),
    { kind: 'descending', ks: [4, 3, 2], mode },
    { kind: 'cumulative', k: 2, mode },
  ])
}

/** A strategy that groups friends before its messages are known. */
export type Grouped = Extract<Strategy, { readonly mode: unknown }>

export const isGrouped = (strategy: Strategy): strategy is Grouped => 'mode' in strategy
