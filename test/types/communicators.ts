// Communicators that are made of others, and the world. Type-checked by `npm run typecheck`, never run.
import {
  type CartCommunicator,
  Communicator,
  type Comparison,
  type Gathered,
  type Group,
  run,
  type TopologyCommunicator,
} from 'rankweave'
import { Request } from '../../src/messages/p2p/request.js'
import { type Equal, expectType } from './support.js'

declare const world: Communicator
declare const group: Group
declare const color: number | null

export async function made(): Promise<void> {
  const row = await world.split(1)
  expectType<Equal<typeof row, Communicator>>(true)
  const some = await world.split(color, -1, { order: 'parallel' } as never)
  expectType<Equal<typeof some, Communicator | null>>(true)
  expectType<Equal<Awaited<ReturnType<typeof world.splitType>>, Communicator>>(true)
  expectType<Equal<Awaited<ReturnType<typeof world.dup>>, Communicator>>(true)
  expectType<Equal<Awaited<ReturnType<typeof world.range>>, Communicator | null>>(true)
  expectType<Equal<Awaited<ReturnType<typeof world.create>>, Communicator | null>>(true)
  expectType<Equal<Awaited<ReturnType<typeof world.compare>>, Comparison>>(true)
  expectType<Int32Array>(await world.worldRanks([0, 1]))
  expectType<Group>(await world.group())
  await world.create(group)
  await world.free()

  const grid = await world.createCart([2, 2], { periods: [true, false] })
  expectType<Equal<typeof grid, CartCommunicator | null>>(true)
  const graph = await world.createDistGraphAdjacent({ sources: [0], destinations: [1] })
  expectType<Equal<typeof graph, TopologyCommunicator>>(true)
  expectType<Equal<Awaited<ReturnType<typeof graph.dup>>, TopologyCommunicator>>(true)

  // @ts-expect-error ranks beyond the grid have none
  grid.coords()
  // @ts-expect-error a rank with color null has none
  some.rank
  // @ts-expect-error colors are numbers
  await world.split('row')
  // @ts-expect-error nodes are the only type
  await world.splitType('socket')
}

export async function neighbors(graph: TopologyCommunicator): Promise<void> {
  const shared = new Float64Array(new SharedArrayBuffer(8))
  const fresh = await graph.neighborAllgather(shared)
  expectType<Equal<typeof fresh, Float64Array<ArrayBuffer>>>(true)
  const filled = await graph.neighborAllgather(new Float64Array(1), { into: shared })
  expectType<Equal<typeof filled, Float64Array<SharedArrayBuffer>>>(true)
  const blocks = await graph.neighborAllgatherv(shared)
  expectType<Equal<typeof blocks, Gathered<Float64Array<ArrayBuffer>>>>(true)
  const placed = await graph.neighborAllgatherv(new Float64Array(1), { displs: [0], into: shared })
  expectType<Equal<typeof placed, Gathered<Float64Array<SharedArrayBuffer>>>>(true)
  const request = graph.neighborAllgatherInit(new Float64Array(1), new Float64Array(2))
  expectType<Equal<ReturnType<typeof request.start>, Promise<void>>>(true)

  // @ts-expect-error values have no elements
  await graph.neighborAllgather('text')
  // @ts-expect-error another element type
  await graph.neighborAllgather(shared, { into: new Int8Array(8) })
}

export async function hidden(): Promise<void> {
  // @ts-expect-error communicators come from run, split, dup and create
  new Communicator()
  // @ts-expect-error requests come from isend and its like
  new Request()
  // @ts-expect-error the rank of a handle is fixed
  world.rank = 1
}

export async function worlds(): Promise<void> {
  const ranks = await run((each) => Promise.resolve(each.rank), { ranks: 4 })
  expectType<Equal<typeof ranks, number[]>>(true)
  // @ts-expect-error a function cannot cross threads: they take the URL of a module
  await run((each) => Promise.resolve(each.rank), { ranks: 4, fabric: 'threads' })
  world.abort(new Error('enough'))
  expectType<number>(world.counters.rank.messagesSent)
  expectType<{ readonly process: number; readonly node: number }>(world.location)
}
