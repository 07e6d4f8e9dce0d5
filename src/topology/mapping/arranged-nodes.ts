import { below } from '../../base/random.js'
import { entriesByRow, rowStarts } from '../compressed-rows.js'
import type { ExchangedAmounts } from './placed-distances.js'

/** The input of an arrangement of nodes. */
export interface ArrangedNodes {
  /** The number of slots of every node. */
  readonly capacities: Int32Array
  /** The distance of two nodes: symmetric, and 0 from a node to itself. */
  readonly distance: (nodeA: number, nodeB: number) => number
  /** The budget, in visits of neighboring nodes. */
  readonly work: number
  readonly next: () => number
}

/** The temperature falls by this factor from start to end. */
const cooling = 1000
/** The number of random swaps by which the size of a swap's change is estimated. */
const samples = 64

/**
 * Exchanges the whole contents of two nodes of equal capacity such that amounts times distances become less. It runs
 * simulated annealing (Kirkpatrick 1983) on the graph of nodes. Swaps of single vertices do not lead there, because the
 * first ones cost much.
 *
 * @returns the node of every vertex; never worse than before
 */
export function arrangedNodes(
  amounts: ExchangedAmounts,
  nodeOf: Int32Array,
  { capacities, distance, work, next }: ArrangedNodes,
): Int32Array {
  const between = betweenNodes(amounts, nodeOf, capacities.length)
  const nodes = capacities.length
  /** The node that holds each node's contents: now, and at the least cost. */
  const place = Int32Array.from({ length: nodes }, (_, node) => node)
  let best = place.slice()
  const gainOf = (a: number, b: number) => gainAt(between, place, distance, a, b)
  const draw = () => [below(next, nodes), below(next, nodes)] as const
  const isChange = (a: number, b: number) => a !== b && capacities[a] === capacities[b]
  let [spent, changes, size] = [0, 0, 0]
  for (let i = 0; i < samples && nodes > 0; i++) {
    const [a, b] = draw()
    if (!isChange(a, b)) continue
    changes++
    size += Math.abs(gainOf(a, b))
  }
  if (size === 0) return nodeOf
  const hottest = size / changes
  let [total, least] = [0, 0]
  while (spent < work) {
    const temperature = hottest * cooling ** (-spent / work)
    const [a, b] = draw()
    spent += 1
    if (!isChange(a, b)) continue
    spent += between.start[a + 1] - between.start[a] + between.start[b + 1] - between.start[b]
    const gain = gainOf(a, b)
    if (gain < 0 && Math.exp(gain / temperature) * 2 ** 32 <= next()) continue
    const other = place[a]
    place[a] = place[b]
    place[b] = other
    total -= gain
    if (total >= least) continue
    least = total
    best = place.slice()
  }
  return nodeOf.map((node) => best[node])
}

/** Returns the amount by which the cost falls if the contents of two nodes change places. */
function gainAt(
  { start, to, weight }: ExchangedAmounts,
  place: Int32Array,
  distance: ArrangedNodes['distance'],
  a: number,
  b: number,
): number {
  const [atA, atB] = [place[a], place[b]]
  let gain = 0
  for (let e = start[a]; e < start[a + 1]; e++)
    if (to[e] !== b) gain += weight[e] * (distance(atA, place[to[e]]) - distance(atB, place[to[e]]))
  for (let e = start[b]; e < start[b + 1]; e++)
    if (to[e] !== a) gain += weight[e] * (distance(atB, place[to[e]]) - distance(atA, place[to[e]]))
  return gain
}

/** Sums what all vertices of a node exchange with those of each other node. */
function betweenNodes(amounts: ExchangedAmounts, nodeOf: Int32Array, nodes: number): ExchangedAmounts {
  const members = rowStarts(nodes, nodeOf)
  const byNode = entriesByRow(members, nodeOf)
  const start = new Int32Array(nodes + 1)
  const to: number[] = []
  const weight: number[] = []
  const entryOf = new Int32Array(nodes).fill(-1)
  for (let node = 0; node < nodes; node++) {
    const first = to.length
    for (const v of byNode.subarray(members[node], members[node + 1]))
      for (let e = amounts.start[v]; e < amounts.start[v + 1]; e++) {
        const other = nodeOf[amounts.to[e]]
        if (other === node) continue
        if (entryOf[other] < first) {
          entryOf[other] = to.push(other) - 1
          weight.push(0)
        }
        weight[entryOf[other]] += amounts.weight[e]
      }
    start[node + 1] = to.length
  }
  return { start, to: Int32Array.from(to), weight: Float64Array.from(weight) }
}
