import type { CartCommunicator } from '../handles/cart-communicator.js'
import type { TopologyCommunicator } from '../handles/topology-communicator.js'
import { createOperation } from '../messages/datatype/operation.js'
import { PROC_NULL } from '../messages/mailboxes/envelope.js'
import { same } from './expect.js'
import { checkCalls, checkPersistentStarts, checkStarts } from './forms.js'
import { type EdgesOfRank, neighborForms } from './neighbor-forms.js'

/** Composes affine maps modulo a prime from left to right: associative, not commutative. */
const compose = createOperation<Int32Array>(
  (left, right) => {
    for (let i = 0; i + 1 < left.length; i += 2) {
      left[i + 1] = (left[i + 1] * right[i] + right[i + 1]) % 1009
      left[i] = (left[i] * right[i]) % 1009
    }
    return left
  },
  { name: 'compose' },
)

export async function exchangeEdges(
  graph: TopologyCommunicator,
  edges: EdgesOfRank,
  slot: number,
): Promise<void> {
  for (const length of [0, 40]) {
    const forms = neighborForms(graph, edges, slot, length)
    await checkCalls(graph, forms)
    await checkStarts(graph, forms)
    await checkPersistentStarts(graph, forms, 2)
  }
  await reduce(graph, slot)
}

async function reduce(graph: TopologyCommunicator, slot: number): Promise<void> {
  const sources = [...graph.sources]
  const mapOf = (rank: number): Int32Array => Int32Array.of(rank + 2 + slot, 5 * rank + 1, rank % 7, 3)
  const mine = mapOf(graph.rank)
  const expectedOf = (combine: (left: Int32Array, right: Int32Array) => Int32Array) =>
    sources.length === 0 ? null : sources.map(mapOf).reduce(combine)
  const sum = expectedOf((left, right) => left.map((value, i) => value + right[i]))
  same(await graph.neighborReduce(mine, 'sum'), sum, 'sum of a neighborReduce')
  const composed = expectedOf((left, right) => compose.combine(left, right) as Int32Array)
  same(await graph.neighborReduce(mine, compose), composed, 'neighborReduce in list order')
}

/** Checks that block s arrives as block s ^ 1, and that none arrives from beyond a border. */
export async function exchangeOnGrid(grid: CartCommunicator): Promise<void> {
  const slots = grid.sources.length
  const data = Int32Array.from({ length: slots }, (_, slot) => grid.rank * slots + slot)
  const got = await grid.neighborAlltoall(data, { into: new Int32Array(slots).fill(-1) })
  const expected = [...grid.sources].map((src, slot) => (src === PROC_NULL ? -1 : src * slots + (slot ^ 1)))
  same([...got], expected, 'neighborAlltoall on a grid')
}
