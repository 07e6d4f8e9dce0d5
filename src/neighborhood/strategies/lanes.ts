import { getOrAdd } from '../../base/maps.js'
import { integerOption, integersOption, type OptionTable, wordOption } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'
import { firstNotBelow, indexIn, smallestOf } from '../../base/search.js'
import { type CompressedRows, transposeRows } from '../../topology/compressed-rows.js'
import { strategyError } from '../../topology/friends/grouping-options.js'
import { distinctOut } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import {
  binaryRadices,
  type DigitOrder,
  type DigitSteps,
  type DigitsOf,
  digitSteps,
  digitsOption,
  distinct,
  evenRadices,
  messagesByDigit,
  orderOption,
  radicesOption,
  requireCover,
  requireNoMore,
  similarRadices,
  swaps,
  switched,
} from './digits.js'
import { type NodeLayout, nodeLayout } from './node-layout.js'
import type { Extents, Route, StrategyKind } from './strategy-kind.js'

/**
 * Sends one message per ordered pair of nodes with edges: the rank that serves the destination node sends to the one
 * that serves the source node. Blocks are gathered and spread inside nodes by digits. With several lanes the ranks of a
 * node are divided among as many messages per pair. Lanes of different widths have messages of different lengths, which
 * arrive one after the other if they share a link. So the first are spread while the others are on their way.
 */
export interface Lanes {
  readonly kind: 'lanes'
  /**
   * The radices of a rank's digits on its node, lowest first; their product must be at least the ranks of a node.
   * Default: 2.
   */
  readonly radices?: readonly number[]
  /**
   * The number of messages per pair of nodes, at most the ranks of a node. Default: every rank serves about one other
   * node.
   */
  readonly lanes?: number
  /**
   * The ranks of each lane of a node, in order, instead of `lanes`; the last number is repeated while ranks are left.
   */
  readonly widths?: readonly number[]
  /**
   * The phase in which blocks travel to ranks of their own node. Default `gather`; with `spread` they share messages
   * with those of other nodes.
   */
  readonly own?: 'gather' | 'spread'
  /**
   * The number whose digits are corrected. Default `number`. `offset` is the distance from rank to rank, counted
   * around: on a node to spread, in a lane to gather.
   */
  readonly digits?: DigitsOf
  /** The digit that is corrected first. Default `lowest`. */
  readonly order?: DigitOrder
}

const options = {
  radices: radicesOption('a rank on its node', 'the ranks of a node'),
  lanes: integerOption({
    least: 1,
    help: 'messages per pair of nodes, at most the ranks of a node',
    computed: 'as many as let every rank serve about one other node',
  }),
  widths: integersOption({
    least: 1,
    help: 'instead of lanes, the ranks of each lane; the last one is repeated as often as ranks are left',
  }),
  own: wordOption(['gather', 'spread'], {
    help: 'whether blocks travel to ranks of their own node when others are gathered, or spread',
    default: 'gather',
  }),
  digits: digitsOption,
  order: orderOption,
} satisfies OptionTable<Omit<Lanes, 'kind'>>

export const lanes: StrategyKind<Lanes> = {
  help: 'lanes:radices=2.2.2.2,lanes=1,own=spread   gathered on the node, one message per pair of nodes, spread on the node; or widths=4.8.2.2',
  options,
  planningLimit: 2 ** 16,
  routeNeeds: 'pairs of nodes',
  check({ lanes: count, widths }) {
    if (count !== undefined && widths !== undefined)
      throw strategyError('lanes: expected lanes or widths, got both')
    if (widths?.length === 0) throw strategyError('lanes: expected at least one width, got none')
  },
  route(strategy, facts) {
    const { kind, radices: given, lanes: count, widths, own, digits, order } = withDefaults(options, strategy)
    const layout = nodeLayout(kind, facts)
    const { largest } = layout
    if (count !== undefined) requireNoMore(kind, 'lanes', count, largest, 'the ranks of a node')
    if (given !== undefined) requireCover(kind, 'radices', given, largest, 'the ranks of a node')
    const radices = given ?? binaryRadices(largest)
    const pairs = nodePairs(facts.topology, layout)
    const starts = laneStarts(layout, (node, size) => {
      if (widths !== undefined) return widths
      const partners = Math.max(pairs.destinationsOf(node), pairs.sourcesOf(node))
      return [count === undefined ? coveringWidth(radices, partners, size) : Math.ceil(size / count)]
    })
    return laneRoute(layout, starts, pairs, digitSteps(digits, radices, order, largest), own)
  },
  place: 5,
  candidates: candidatesOf,
  mostMessages(strategy, extents) {
    const inside = messagesByDigit(strategy.radices!, strategy.order)
    return [...inside, Math.ceil((extents.nodes - 1) / narrowestLane(strategy, extents)), ...inside]
  },
  similar: similarTo,
}

function candidatesOf({ nodes, largest }: Extents): Lanes[] {
  if (nodes <= 1 || largest <= 1) return []
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
    return shapes.map((shape): Lanes => ({ kind: 'lanes', radices, ...shape, own }))
  })
}

/** Lists radices that gather and spread the blocks of lanes: one, two even ones, twos, and twos before a 4. */
function laneRadices(largest: number): number[][] {
  const twos = Math.ceil(Math.log2(largest))
  const four = [...new Array<number>(Math.max(0, Math.ceil(Math.log2(largest / 4)))).fill(2), 4]
  const lists = [[largest], evenRadices(largest, 2).reverse(), new Array<number>(twos).fill(2), four]
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

function narrowestLane({ radices, lanes: count, widths }: Lanes, { nodes, largest }: Extents): number {
  if (widths !== undefined) return smallestOf(widths)
  return count === undefined ? coveringWidth(radices!, nodes - 1, largest) : Math.ceil(largest / count)
}

function similarTo(strategy: Lanes, { largest }: Extents): Lanes[] {
  const { lanes, widths, ...others } = strategy
  const counts = lanes === undefined ? [2, 4] : [2 * lanes, lanes / 2]
  const isCount = (count: number): boolean => count >= 1 && count <= largest && Number.isInteger(count)
  const all = widths ?? (lanes === undefined ? [] : [Math.ceil(largest / lanes)])
  return [
    ...similarRadices(strategy.radices, largest).map((radices) => ({ ...strategy, radices })),
    ...(widths === undefined ? counts.filter(isCount).map((count) => ({ ...others, lanes: count })) : []),
    ...(all.length === 0 ? [] : divisions(expanded(all, largest))).map((divided) => ({
      ...others,
      widths: divided,
    })),
    ...switched(options, strategy),
  ]
}

/** Lists the width of every lane of a node: the last width is repeated while ranks are left. */
function expanded(widths: readonly number[], largest: number): number[] {
  const all: number[] = []
  for (let left = largest; left > 0; ) {
    const width = Math.min(left, widths[Math.min(all.length, widths.length - 1)])
    all.push(width)
    left -= width
  }
  return all
}

/** Lists other widths with the same sum. */
function divisions(widths: readonly number[]): number[][] {
  const found = [...swaps(widths)]
  for (let i = 0; i < widths.length; i++) {
    if (widths[i] > 1) found.push(widths.toSpliced(i, 1, Math.ceil(widths[i] / 2), Math.floor(widths[i] / 2)))
    if (i > 0) found.push(widths.toSpliced(i - 1, 2, widths[i - 1] + widths[i]))
    for (let j = 0; j < widths.length; j++)
      for (const step of [1, 2])
        if (i !== j && widths[i] > step)
          found.push(widths.with(i, widths[i] - step).with(j, widths[j] + step))
  }
  return distinct(found, widths)
}

/** Returns the start of every lane of each node, and the end of the last one; a lane has consecutive ranks. */
function laneStarts(
  { nodes, start }: NodeLayout,
  widthsOf: (node: number, size: number) => readonly number[],
): readonly (readonly number[])[] {
  return Array.from({ length: nodes }, (_, node) => {
    const size = start[node + 1] - start[node]
    const widths = widthsOf(node, size)
    const starts = [0]
    for (let first = 0, lane = 0; first < size; lane++) {
      first = Math.min(size, first + widths[Math.min(lane, widths.length - 1)])
      starts.push(first)
    }
    return starts
  })
}

/**
 * Returns a product of the first radices. Ranks of a lane differ only in these digits, so gathering needs no messages
 * for the others.
 */
function coveringWidth(radices: readonly number[], partners: number, size: number): number {
  let width = 1
  for (const radix of radices) if (width < partners) width *= radix
  return Math.min(width, size)
}

function laneRoute(
  { node, local, start, ranks }: NodeLayout,
  starts: readonly (readonly number[])[],
  pairs: NodePairs,
  digits: DigitSteps,
  own: 'gather' | 'spread',
): Route {
  const { steps } = digits
  const laneOf = new Int32Array(ranks.length)
  for (const [at, firsts] of starts.entries())
    for (let lane = 0; lane + 1 < firsts.length; lane++)
      for (let i = firsts[lane]; i < firsts[lane + 1]; i++) laneOf[ranks[start[at] + i]] = lane
  /** Returns the index-th rank of a lane of a node. */
  const serving = (at: number, lane: number, index: number): number => {
    const firsts = starts[at]
    const here = lane % (firsts.length - 1)
    return firsts[here] + (index % (firsts[here + 1] - firsts[here]))
  }
  // Destinations of a source ascend, so those of one node are consecutive.
  let last: {
    readonly from: number
    readonly to: number
    readonly gathering: number
    readonly spreading: number
  } = { from: -1, to: -1, gathering: -1, spreading: -1 }
  const indices = (from: number, to: number) => {
    if (last.from !== from || last.to !== to)
      last = { from, to, gathering: pairs.destinationIndex(from, to), spreading: pairs.sourceIndex(to, from) }
    return last
  }
  return {
    hops: 2 * steps + 1,
    hop(h, source, destination) {
      const [from, to] = [node[source], node[destination]]
      if (from === to) {
        const step = own === 'gather' ? h : h - steps - 1
        if (step < 0) return source
        if (step >= steps) return destination
        const size = start[from + 1] - start[from]
        return ranks[start[from] + digits.between(step, local[source], local[destination], size)]
      }
      const lane = laneOf[source]
      if (h < steps) {
        const first = starts[from][lane]
        const width = starts[from][lane + 1] - first
        const gathering = serving(from, lane, indices(from, to).gathering) - first
        return ranks[start[from] + first + digits.between(h, local[source] - first, gathering, width)]
      }
      const spreading = serving(to, lane, indices(from, to).spreading)
      if (h === steps) return ranks[start[to] + spreading]
      const number = digits.between(h - steps - 1, spreading, local[destination], start[to + 1] - start[to])
      return ranks[start[to] + number]
    },
  }
}

/** The pairs of layouts in use, each of one topology. */
const found = new WeakMap<NodeLayout, NodePairs>()

function nodePairs(topology: ProcessTopology, layout: NodeLayout): NodePairs {
  return getOrAdd(found, layout, () => new NodePairs(topology, layout))
}

/** The ordered pairs of different nodes with an edge between their ranks. */
class NodePairs {
  readonly #out: CompressedRows
  readonly #in: CompressedRows

  constructor(topology: ProcessTopology, { nodes, node, start, ranks }: NodeLayout) {
    const out = distinctOut(topology)
    const rows: number[] = []
    const rowStart = new Int32Array(nodes + 1)
    const seenBy = new Int32Array(nodes).fill(-1)
    for (let n = 0; n < nodes; n++) {
      const partners: number[] = []
      for (let i = start[n]; i < start[n + 1]; i++) {
        for (let e = out.start[ranks[i]]; e < out.start[ranks[i] + 1]; e++) {
          const other = node[out.rank[e]]
          if (other === n || seenBy[other] === n) continue
          seenBy[other] = n
          partners.push(other)
        }
      }
      for (const other of partners.sort((a, b) => a - b)) rows.push(other)
      rowStart[n + 1] = rows.length
    }
    this.#out = { start: rowStart, rank: Int32Array.from(rows) }
    this.#in = transposeRows(nodes, this.#out)
  }

  /** Returns the number of nodes to which a node sends. */
  destinationsOf(node: number): number {
    return this.#out.start[node + 1] - this.#out.start[node]
  }

  /** Returns the number of nodes from which a node receives. */
  sourcesOf(node: number): number {
    return this.#in.start[node + 1] - this.#in.start[node]
  }

  /** Returns the number of a destination among those of a node, counted from the first one after the node. */
  destinationIndex(node: number, destination: number): number {
    return indexAfter(this.#out, node, destination)
  }

  /** Returns the number of a source among those of a node, counted backwards from the first one before the node. */
  sourceIndex(node: number, source: number): number {
    return this.sourcesOf(node) - 1 - indexAfter(this.#in, node, source)
  }
}

function indexAfter({ start, rank }: CompressedRows, node: number, other: number): number {
  const row = rank.subarray(start[node], start[node + 1])
  return (indexIn(row, other) - firstNotBelow(row, node, 0, row.length) + row.length) % row.length
}
