import type { TypedArray } from '../messages/datatype/elements.js'
import { createOperation } from '../messages/datatype/operation.js'
import { PROC_NULL } from '../messages/matching/envelope.js'
import type { CartCommunicator } from '../topology-communicator/cart-communicator.js'
import type { TopologyCommunicator } from '../topology-communicator/topology-communicator.js'
import { concatenatedBlocks, elements } from './collective-oracles.js'
import { same } from './expect.js'

/** The edges of one rank, by numbers that both ends know, in the order of its lists. */
export interface EdgesOfRank {
  readonly sent: readonly number[]
  readonly received: readonly number[]
}

/** Affine maps modulo a prime, composed from left to right: associative, not commutative. */
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

/** Alltoalls and reductions, where every edge has its own block. */
export async function exchangeEdges(
  graph: TopologyCommunicator,
  { sent, received }: EdgesOfRank,
  slot: number,
): Promise<void> {
  for (const length of [0, 3]) {
    const uniform = (edge: number) => elements(Float64Array, slot, edge, length, length)
    const expected = concatenatedBlocks(Float64Array, received.map(uniform))
    const got = await graph.neighborAlltoall(
      concatenatedBlocks(Float64Array, sent.map(uniform)) as Float64Array,
    )
    same(got, expected, `neighborAlltoall of ${length}`)

    const varying = (edge: number) => elements(Int16Array, slot, edge, length, (edge % 3) * length)
    const data = concatenatedBlocks(Int16Array, sent.map(varying)) as Int16Array
    const counts = sent.map((edge) => varying(edge).length)
    const request = graph.ineighborAlltoallv(data, counts)
    const varied = await request.wait()
    same(varied.data, concatenatedBlocks(Int16Array, received.map(varying)), `neighborAlltoallv of ${length}`)
  }
  await exchangeTypes(graph, { sent, received }, slot)
  await exchangeAgain(graph, { sent, received }, slot)
  await reduce(graph, slot)
}

/** Another type and length for every edge. */
async function exchangeTypes(
  graph: TopologyCommunicator,
  { sent, received }: EdgesOfRank,
  slot: number,
): Promise<void> {
  const types = [BigInt64Array, Uint8Array, Float32Array] as const
  const typed = (edge: number) => elements(types[edge % 3], slot, edge, 1, edge % 4)
  const got = await graph.neighborAlltoallw(sent.map(typed))
  for (const [i, edge] of received.entries()) {
    same(got[i] as TypedArray, typed(edge), `block ${i} of neighborAlltoallw`)
  }
}

/** Persistent requests whose starts overlap. */
async function exchangeAgain(
  graph: TopologyCommunicator,
  { sent, received }: EdgesOfRank,
  slot: number,
): Promise<void> {
  const block = (edge: number, start: number) => elements(Uint32Array, slot + start, edge, 2, 2)
  const varying = (edge: number, start: number) => elements(Int16Array, slot + start, edge, 3, edge % 4)
  const counts = sent.map((edge) => varying(edge, 0).length)
  const lengthOf = (edges: readonly number[]) => edges.reduce((sum, edge) => sum + (edge % 4), 0)
  const [send, recv] = [new Uint32Array(2 * sent.length), new Uint32Array(2 * received.length)]
  const [sendv, recvv] = [new Int16Array(lengthOf(sent)), new Int16Array(lengthOf(received))]
  const sendw = sent.map((edge) => new Float64Array(edge % 4))
  const recvw = received.map((edge) => new Float64Array(edge % 4))
  const [mine, least] = [new Int32Array(1), Int32Array.of(-1)]
  const requests = [
    graph.neighborAlltoallInit(send, recv),
    graph.neighborAlltoallvInit(sendv, counts, recvv),
    graph.neighborAlltoallwInit(sendw, recvw),
    graph.neighborReduceInit(mine, least, 'min'),
  ]
  for (let start = 0; start < 2; start++) {
    send.set(
      concatenatedBlocks(
        Uint32Array,
        sent.map((edge) => block(edge, start)),
      ) as Uint32Array,
    )
    sendv.set(
      concatenatedBlocks(
        Int16Array,
        sent.map((edge) => varying(edge, start)),
      ) as Int16Array,
    )
    for (const [i, edge] of sent.entries()) sendw[i].set([...varying(edge, start)].map(Number))
    mine[0] = 1000 * start + graph.rank
    await Promise.all(requests.map((request) => request.start()))
    const what = `start ${start} of a persistent neighborAlltoall`
    same(
      recv,
      concatenatedBlocks(
        Uint32Array,
        received.map((edge) => block(edge, start)),
      ),
      what,
    )
    same(
      recvv,
      concatenatedBlocks(
        Int16Array,
        received.map((edge) => varying(edge, start)),
      ),
      `${what}v`,
    )
    for (const [i, edge] of received.entries()) {
      same([...recvw[i]], [...varying(edge, start)].map(Number), `block ${i} of ${what}w`)
    }
    const expected =
      graph.sources.length === 0 ? -1 : 1000 * start + graph.sources.reduce((a, b) => Math.min(a, b))
    same([...least], [expected], `start ${start} of a persistent neighborReduce`)
  }
  for (const request of requests) request.free()
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

/** Block s arrives as block s ^ 1; beyond a border none does. */
export async function exchangeOnGrid(grid: CartCommunicator): Promise<void> {
  const slots = grid.sources.length
  const data = Int32Array.from({ length: slots }, (_, slot) => grid.rank * slots + slot)
  const got = await grid.neighborAlltoall(data, { into: new Int32Array(slots).fill(-1) })
  const expected = [...grid.sources].map((src, slot) => (src === PROC_NULL ? -1 : src * slots + (slot ^ 1)))
  same([...got], expected, 'neighborAlltoall on a grid')
}
