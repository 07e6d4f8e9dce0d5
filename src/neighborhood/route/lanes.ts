import { binaryRadices, Digits, requireCover, requireNoMore } from './digits.js'
import { type NodeLayout, nodeLayout } from './node-layout.js'
import { type NodePairs, nodePairs } from './node-pairs.js'
import type { Route } from './route.js'
import type { StrategyKind } from './strategy-kind.js'
import { checkOptions, listOption, wholeOption } from './strategy-option.js'

/**
 * One message per ordered pair of nodes with edges, from the rank that serves the destination node to the rank that serves the
 * source node; blocks are gathered and spread inside nodes by digits. With several lanes the ranks of a node are divided
 * among as many messages per pair.
 */
export interface Lanes {
  readonly kind: 'lanes'
  /** Of the digits of a rank on its node, lowest first; their product must be at least the ranks of a node. Default: 2. */
  readonly radices?: readonly number[]
  /** Messages per pair of nodes, at most the ranks of a node. Default: as many as let every rank serve about one other node. */
  readonly lanes?: number
}

export const lanes: StrategyKind<Lanes> = {
  help: 'lanes:radices=2.2.2.2,lanes=1   gathered on the node, one message per pair of nodes, spread on the node',
  initial: { kind: 'lanes' },
  options: { radices: listOption(2), lanes: wholeOption(1) },
  planningLimit: 2 ** 16,
  routeNeeds: 'pairs of nodes',
  check(strategy) {
    checkOptions(strategy, lanes.options)
  },
  route({ kind, radices: given, lanes: count }, facts) {
    const layout = nodeLayout(kind, facts)
    const { largest } = layout
    if (count !== undefined) requireNoMore(kind, 'lanes', count, largest, 'the ranks of a node')
    if (given !== undefined) requireCover(kind, 'radices', given, largest, 'the ranks of a node')
    const radices = given ?? binaryRadices(largest)
    const pairs = nodePairs(facts.topology, layout)
    return laneRoute(
      layout,
      pairs,
      new Digits(radices, 'lowest', largest),
      widths(layout, pairs, radices, count),
    )
  },
}

/** How many ranks of every node share a lane; lanes are ranks that follow each other. */
function widths(
  { nodes, start }: NodeLayout,
  pairs: NodePairs,
  radices: readonly number[],
  lanes: number | undefined,
): Int32Array {
  const width = new Int32Array(nodes)
  for (let node = 0; node < nodes; node++) {
    const size = start[node + 1] - start[node]
    const partners = Math.max(pairs.destinationsOf(node), pairs.sourcesOf(node))
    width[node] = lanes === undefined ? coveringWidth(radices, partners, size) : Math.ceil(size / lanes)
  }
  return width
}

/** A product of the first radices: ranks of a lane differ in these digits only, so the others need no messages to gather. */
export function coveringWidth(radices: readonly number[], partners: number, size: number): number {
  let width = 1
  for (const radix of radices) if (width < partners) width *= radix
  return Math.min(width, size)
}

function laneRoute(
  { node, local, start, ranks }: NodeLayout,
  pairs: NodePairs,
  digits: Digits,
  width: Int32Array,
): Route {
  const { steps } = digits
  /** The index-th rank of a lane of a node. */
  const serving = (at: number, lane: number, index: number): number => {
    const size = start[at + 1] - start[at]
    const first = (lane % Math.ceil(size / width[at])) * width[at]
    return first + (index % Math.min(width[at], size - first))
  }
  // Destinations of a source ascend, so those of one node follow each other.
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
      const size = start[from + 1] - start[from]
      if (from === to) {
        return h < steps
          ? ranks[start[from] + digits.between(h, local[source], local[destination], size)]
          : destination
      }
      const lane = Math.floor(local[source] / width[from])
      if (h < steps) {
        const gathering = serving(from, lane, indices(from, to).gathering)
        return ranks[start[from] + digits.between(h, local[source], gathering, size)]
      }
      const spreading = serving(to, lane, indices(from, to).spreading)
      if (h === steps) return ranks[start[to] + spreading]
      const number = digits.between(h - steps - 1, spreading, local[destination], start[to + 1] - start[to])
      return ranks[start[to] + number]
    },
  }
}
