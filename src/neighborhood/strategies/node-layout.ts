import { getOrAdd } from '../../base/maps.js'
import { strategyError } from '../../topology/friends/grouping-options.js'
import type { RouteFacts } from './strategy-kind.js'

/** The ranks by node. Nodes that host ranks are numbered in their order, and so are the ranks of a node. */
export interface NodeLayout {
  readonly nodes: number
  /** The most ranks of a node. */
  readonly largest: number
  /** The node of every rank. */
  readonly node: Int32Array
  /** The number of every rank on its node. */
  readonly local: Int32Array
  /** The start of every node's ranks in `ranks`. Length `nodes + 1`. */
  readonly start: Int32Array
  readonly ranks: Int32Array
}

/** The layouts of facts in use: compared candidates have the same facts. */
const found = new WeakMap<RouteFacts, NodeLayout>()

/** @throws ERR_STRATEGY when nodes are unknown, or belong to another number of ranks */
export function nodeLayout(kind: string, facts: RouteFacts): NodeLayout {
  return getOrAdd(found, facts, () => layoutOf(kind, facts))
}

function layoutOf(kind: string, { topology, nodeOf }: RouteFacts): NodeLayout {
  const { ranks: count } = topology
  if (nodeOf === null) throw strategyError(`${kind} needs the node of every rank: pass a machine`)
  if (nodeOf.length !== count)
    throw strategyError(`expected a node for each of ${count} ranks, got ${nodeOf.length}`)
  const numberOf = new Map([...new Set(nodeOf)].sort((a, b) => a - b).map((node, i) => [node, i]))
  const nodes = numberOf.size
  const node = nodeOf.map((named) => numberOf.get(named)!)
  const local = new Int32Array(count)
  const start = new Int32Array(nodes + 1)
  for (let rank = 0; rank < count; rank++) local[rank] = start[node[rank] + 1]++
  let largest = 0
  for (let n = 0; n < nodes; n++) {
    largest = Math.max(largest, start[n + 1])
    start[n + 1] += start[n]
  }
  const ranks = new Int32Array(count)
  for (let rank = 0; rank < count; rank++) ranks[start[node[rank]] + local[rank]] = rank
  return { nodes, largest, node, local, start, ranks }
}
