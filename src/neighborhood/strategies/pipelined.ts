import { integersOption, type OptionTable } from '../../base/option.js'
import { firstNotBelow } from '../../base/search.js'
import { strategyError } from '../../topology/friends/grouping-options.js'
import { shorterWay } from '../../topology/generate/translations.js'
import {
  binaryRadices,
  cappedWeights,
  fewRadices,
  radicesOption,
  requireCover,
  similarRadices,
} from './digits.js'
import { type NodeLayout, nodeLayout } from './node-layout.js'
import type { Extents, Route, StrategyKind } from './strategy-kind.js'

/**
 * Moves blocks from node to node between ranks of the same number. Each block is spread inside a node as soon as it
 * arrives, while the network carries the others. This suits long blocks: it takes more messages, but processors and
 * links work at the same time.
 */
export interface Pipelined {
  readonly kind: 'pipelined'
  /**
   * The radices of the digits of the distance between nodes, lowest first; their product must be at least the number of
   * nodes. Default: 2.
   */
  readonly between?: readonly number[]
  /**
   * The nodes that a block passes in each hop, either way around, until it arrives, instead of `between`; the last hop
   * covers any distance. 1.1 suits grids of radius 2 in which every node hosts a row.
   */
  readonly steps?: readonly number[]
  /**
   * The steps to nodes behind, if they differ from those ahead. With 1.1 ahead and 2 behind, messages to the same node
   * are spread one after the other, and the last ones are half as many. Default: `steps`.
   */
  readonly back?: readonly number[]
  /**
   * The radices of the digits of the distance on a node, lowest first; their product must be at least the ranks of a
   * node. Default: 2.
   */
  readonly inside?: readonly number[]
}

const options = {
  between: radicesOption('the distance between nodes', 'the number of nodes'),
  steps: integersOption({
    least: 1,
    help: 'instead of between, the nodes that a block passes in each hop, either way around',
  }),
  back: integersOption({
    least: 1,
    help: 'the steps to nodes behind, where others than those ahead',
    computed: 'steps',
  }),
  inside: radicesOption('the distance on a node', 'the ranks of a node'),
} satisfies OptionTable<Omit<Pipelined, 'kind'>>

export const pipelined: StrategyKind<Pipelined> = {
  help: 'pipelined:steps=1.1,inside=4.4   from node to node, and spread on each while others are on their way; or between=4.4',
  options,
  planningLimit: 2 ** 16,
  routeNeeds: 'nodes',
  check({ between, steps, back }) {
    if (between !== undefined && steps !== undefined)
      throw strategyError('pipelined: expected between or steps, got both')
    if (back !== undefined && steps === undefined)
      throw strategyError('pipelined: expected back with steps, got it alone')
    if (steps?.length === 0 || back?.length === 0)
      throw strategyError('pipelined: expected at least one step, got none')
  },
  route({ kind, between, steps, back, inside: given }, facts) {
    const layout = nodeLayout(kind, facts)
    const { nodes, largest } = layout
    if (between !== undefined) requireCover(kind, 'between', between, nodes, 'the nodes')
    if (given !== undefined) requireCover(kind, 'inside', given, largest, 'the ranks of a node')
    const travel =
      steps === undefined
        ? byDigits(between ?? binaryRadices(nodes), nodes)
        : bySteps(steps, back ?? steps, nodes)
    return spreadOnArrival(layout, travel, cappedWeights(given ?? binaryRadices(largest), largest))
  },
  place: 6,
  candidates: candidatesOf,
  similar: (strategy, { nodes, largest }) => [
    ...similarRadices(strategy.between, nodes).map((between) => ({ ...strategy, between })),
    ...similarRadices(strategy.inside, largest).map((inside) => ({ ...strategy, inside })),
    ...similarSteps(strategy),
  ],
}

/**
 * Lists ways by digits of the distance between nodes, and by a few steps for graphs in which adjacent
 * nodes share edges.
 */
function candidatesOf({ nodes, largest }: Extents): Pipelined[] {
  if (nodes <= 1 || largest <= 1) return []
  const travels = [
    ...fewRadices(nodes).map((between) => ({ between })),
    ...[{ steps: [1, 1] }, { steps: [1, 1], back: [2] }, { steps: [2, 2] }],
    ...[{ steps: [1, 1, 1, 1] }, { steps: [1, 1, 1, 1], back: [2, 2] }],
  ]
  return travels.flatMap((travel) =>
    fewRadices(largest).map((inside): Pipelined => ({ kind: 'pipelined', ...travel, inside })),
  )
}

/** Returns strategies that go the same way in one step fewer, behind or ahead. */
function similarSteps({ steps = [], back = steps, ...others }: Pipelined): Pipelined[] {
  const shorter = (list: readonly number[]): number[][] =>
    list.slice(1).map((step, i) => list.toSpliced(i, 2, list[i] + step))
  return [
    ...shorter(back).map((fewer) => ({ ...others, steps, back: fewer })),
    ...shorter(steps).map((fewer) => ({ ...others, steps: fewer, back })),
  ]
}

/**
 * The travel between nodes: a block to a node at this distance arrives after `hops(distance)`. After hop h before that
 * it has travelled `after(h, distance)`.
 */
interface Travel {
  readonly most: number
  hops(distance: number): number
  /** Returns the distance travelled after hop h, for h below `hops(distance)`. */
  after(h: number, distance: number): number
}

function byDigits(radices: readonly number[], nodes: number): Travel {
  const weights = cappedWeights(radices, nodes)
  const ahead = (distance: number): number => (distance < 0 ? distance + nodes : distance)
  return {
    most: radices.length,
    hops(distance) {
      let hops = 0
      for (let i = 0; i < radices.length; i++) {
        if (ahead(distance) % weights[i + 1] >= weights[i]) hops = i + 1
      }
      return hops
    },
    after: (h, distance) => ahead(distance) % weights[h + 1],
  }
}

function bySteps(ahead: readonly number[], behind: readonly number[], nodes: number): Travel {
  const [forwards, backwards] = [reachOf(ahead, nodes), reachOf(behind, nodes)]
  const reach = (distance: number): Int32Array => (distance < 0 ? backwards : forwards)
  return {
    most: Math.max(ahead.length, behind.length),
    hops(distance) {
      const far = Math.abs(distance)
      if (far === 0) return 0
      const reached = reach(distance)
      return firstNotBelow(reached, far, 0, reached.length) + 1
    },
    after: (h, distance) => Math.sign(distance) * Math.min(Math.abs(distance), reach(distance)[h]),
  }
}

/** Returns the most that blocks have travelled after every hop, ascending; the last hop covers any distance. */
function reachOf(steps: readonly number[], nodes: number): Int32Array {
  let far = 0
  const reach = Int32Array.from(steps, (step) => (far = Math.min(nodes, far + step)))
  reach[steps.length - 1] = nodes
  return reach
}

function spreadOnArrival(
  { nodes, node, local, start, ranks }: NodeLayout,
  travel: Travel,
  weights: Int32Array,
): Route {
  const spreads = weights.length - 1
  /** The hops by distance, from `-nodes` to `nodes`, in a table because a choice follows thousands of blocks. */
  const arrivals = Int32Array.from({ length: 2 * nodes + 1 }, (_, i) => travel.hops(i - nodes))
  return {
    hops: travel.most + spreads,
    hop(h, source, destination) {
      const distance = shorterWay(node[destination] - node[source], nodes)
      const arrival = arrivals[distance + nodes]
      if (h >= arrival + spreads) return destination
      const at = h < arrival ? (node[source] + travel.after(h, distance) + nodes) % nodes : node[destination]
      const size = start[at + 1] - start[at]
      // A rank stands for several numbers on a node with fewer ranks.
      const entered = local[source] % size
      if (h < arrival) return ranks[start[at] + entered]
      const inside = (local[destination] - entered + size) % size
      return ranks[start[at] + ((entered + (inside % weights[h - arrival + 1])) % size)]
    },
  }
}
