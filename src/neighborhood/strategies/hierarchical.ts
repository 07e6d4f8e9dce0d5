import { type OptionTable, wordOption } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'
import {
  binaryRadices,
  type DigitOrder,
  type DigitSteps,
  type DigitsOf,
  digitSteps,
  digitsOption,
  fewRadices,
  messagesByDigit,
  offsetRadices,
  orderOption,
  radicesOption,
  requireCover,
  similarRadices,
  switched,
} from './digits.js'
import { type NodeLayout, nodeLayout } from './node-layout.js'
import type { Extents, Route, StrategyKind } from './strategy-kind.js'

/**
 * Corrects digits of the node between ranks of the same number on their nodes, and digits of that number inside nodes.
 */
export interface Hierarchical {
  readonly kind: 'hierarchical'
  /** The radices of the node's digits, lowest first; their product must be at least the number of nodes. Default: 2. */
  readonly between?: readonly number[]
  /**
   * The radices of a rank's digits on its node, lowest first; their product must be at least the ranks of a node.
   * Default: 2.
   */
  readonly inside?: readonly number[]
  /**
   * The digits that are corrected first. Default `between`: a block crosses to a node once, however many ranks there
   * need it.
   */
  readonly first?: 'between' | 'inside'
  /**
   * The number whose digits are corrected. Default `number`. `offset` is the distance from node to node, and from rank
   * to rank on a node, counted around.
   */
  readonly digits?: DigitsOf
  /** The digit of the node, and of the rank on it, that is corrected first. Default `lowest`. */
  readonly order?: DigitOrder
}

const options = {
  between: radicesOption('the node', 'the number of nodes'),
  inside: radicesOption('a rank on its node', 'the ranks of a node'),
  first: wordOption(['between', 'inside'], {
    help: 'which digits come first, those between nodes or those inside nodes',
    default: 'between',
  }),
  digits: digitsOption,
  order: orderOption,
} satisfies OptionTable<Omit<Hierarchical, 'kind'>>

export const hierarchical: StrategyKind<Hierarchical> = {
  help: 'hierarchical:between=4.4,inside=2.2.2.2,first=between,digits=offset   digits of the node, then of the rank on it',
  options,
  planningLimit: 2 ** 16,
  routeNeeds: 'nodes',
  route(strategy, facts) {
    const { kind, between, inside, first, digits, order } = withDefaults(options, strategy)
    const layout = nodeLayout(kind, facts)
    const { nodes, largest } = layout
    if (between !== undefined) requireCover(kind, 'between', between, nodes, 'the nodes')
    if (inside !== undefined) requireCover(kind, 'inside', inside, largest, 'the ranks of a node')
    const nodeDigits = digitSteps(digits, between ?? binaryRadices(nodes), order, nodes)
    const rankDigits = digitSteps(digits, inside ?? binaryRadices(largest), order, largest)
    return first === 'between'
      ? nodesFirst(layout, nodeDigits, rankDigits)
      : ranksFirst(layout, nodeDigits, rankDigits)
  },
  place: 4,
  candidates: candidatesOf,
  mostMessages({ between, inside, first, order }) {
    const far = messagesByDigit(between!, order)
    const near = messagesByDigit(inside!, order)
    return first === 'inside' ? [...near, ...far] : [...far, ...near]
  },
  similar: (strategy, { nodes, largest }) => [
    ...similarRadices(strategy.between, nodes).map((between) => ({ ...strategy, between })),
    ...similarRadices(strategy.inside, largest).map((inside) => ({ ...strategy, inside })),
    ...switched(options, strategy),
  ],
}

/** Lists digits of numbers in both orders, and of offsets. */
function candidatesOf({ nodes, largest }: Extents): Hierarchical[] {
  const kind = 'hierarchical'
  if (nodes <= 1 || largest <= 1) return []
  const byNumber = fewRadices(nodes).flatMap((between) =>
    fewRadices(largest).flatMap((inside): Hierarchical[] => [
      { kind, between, inside, first: 'between' },
      { kind, between, inside, first: 'inside' },
    ]),
  )
  // Digits of offsets do not need a fitting product, and suit the order highest first best.
  const byOffset = offsetRadices(nodes).flatMap((between) =>
    offsetRadices(largest).map(
      (inside): Hierarchical => ({
        kind,
        between,
        inside,
        first: 'between',
        digits: 'offset',
        order: 'highest',
      }),
    ),
  )
  return [...byNumber, ...byOffset]
}

function nodesFirst(
  { nodes, node, local, start, ranks }: NodeLayout,
  between: DigitSteps,
  inside: DigitSteps,
): Route {
  return {
    hops: between.steps + inside.steps,
    hop(h, source, destination) {
      const isBetween = h < between.steps
      const at = isBetween ? between.between(h, node[source], node[destination], nodes) : node[destination]
      const size = start[at + 1] - start[at]
      // A rank stands for several numbers on a node with fewer ranks.
      const entered = local[source] % size
      const number = isBetween
        ? entered
        : inside.between(h - between.steps, entered, local[destination], size)
      return ranks[start[at] + number]
    },
  }
}

function ranksFirst(
  { nodes, node, local, start, ranks }: NodeLayout,
  between: DigitSteps,
  inside: DigitSteps,
): Route {
  return {
    hops: inside.steps + between.steps,
    hop(h, source, destination) {
      const isInside = h < inside.steps
      const at = isInside
        ? node[source]
        : between.between(h - inside.steps, node[source], node[destination], nodes)
      const size = start[at + 1] - start[at]
      const wanted = local[destination] % size
      return ranks[start[at] + (isInside ? inside.between(h, local[source], wanted, size) : wanted)]
    },
  }
}
