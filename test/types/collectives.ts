// Collectives that move data: what comes back. Type-checked by `npm run typecheck`, never run.
import { type Communicator, type Gathered, type SendableValue, strided, waitall } from 'rankweave'
import { type Equal, expectType, type Json } from './support.js'

declare const world: Communicator
declare const doubles: Float64Array
declare const shared: Float64Array<SharedArrayBuffer>
declare const json: Json
type Doubles = Float64Array<ArrayBuffer>

const view = strided(new Int16Array(8), { count: 2, blockLength: 1, stride: 4 })

export async function bcasts(): Promise<void> {
  await world.barrier({ signal: AbortSignal.timeout(1) })
  const array = await world.bcast(world.rank === 0 ? new Float64Array(3) : null)
  expectType<Equal<typeof array, Doubles>>(true)
  expectType<Float64Array>(await world.bcast(shared, 0, { into: doubles }))
  const bytes = await world.bcast(Buffer.from('x'))
  // @ts-expect-error other ranks than the root get a Uint8Array
  bytes.readInt8(0)
  const packed = await world.bcast(world.rank === 0 ? view : null)
  // @ts-expect-error the root has its view
  expectType<Int16Array>(packed)
  const value = await world.bcast(world.rank === 0 ? json : null)
  expectType<Equal<typeof value, Json>>(true)
  expectType<number>(await world.bcast(3))
  await world.bcast<number>(null, 1)

  // @ts-expect-error values fill no array
  await world.bcast(json, 0, { into: doubles })
  // @ts-expect-error a function cannot be cloned
  await world.bcast(() => 1)
}

export async function gathers(): Promise<void> {
  const own = await world.allgather(shared)
  expectType<Equal<typeof own, Doubles>>(true)
  const filled = await world.allgather(doubles, { into: shared })
  expectType<Equal<typeof filled, Float64Array<SharedArrayBuffer>>>(true)
  const bytes = await world.allgather(Buffer.from('x'))
  expectType<Equal<typeof bytes, Uint8Array<ArrayBuffer>>>(true)
  const values = await world.allgather(json)
  expectType<Equal<typeof values, Json[]>>(true)
  const some = await world.allgather(world.rank === 0 ? 'text' : null)
  expectType<Equal<typeof some, (string | null)[]>>(true)

  const atRoot = await world.gather(doubles, 1)
  expectType<Equal<typeof atRoot, Doubles | null>>(true)
  const uneven = await world.gatherv(doubles, 0, { counts: [1, 2] })
  expectType<Equal<typeof uneven, Gathered<Doubles> | null>>(true)
  const placed = await world.allgatherv(view, { displs: [0, 4], into: new Int16Array(8) })
  expectType<Equal<typeof placed, Gathered<Int16Array<ArrayBuffer>>>>(true)

  // @ts-expect-error another element type
  await world.allgather(doubles, { into: new Float32Array(3) })
  // @ts-expect-error values fill no array
  await world.allgather(json, { into: doubles })
  // @ts-expect-error values have no counts
  await world.allgatherv(json)
  // @ts-expect-error a promise cannot be cloned
  await world.gather(Promise.resolve(1))
}

export async function scatters(): Promise<void> {
  const block = await world.scatter(world.rank === 0 ? doubles : null)
  expectType<Equal<typeof block, Doubles>>(true)
  const one = await world.scatter(world.rank === 0 ? [json] : null, 0)
  expectType<Equal<typeof one, Json>>(true)
  const uneven = await world.scatterv(world.rank === 0 ? view : null, [1, 1], 0, { displs: [1, 0] })
  expectType<Equal<typeof uneven, Int16Array<ArrayBuffer>>>(true)
  const traded = await world.alltoall(doubles)
  expectType<Equal<typeof traded, Doubles>>(true)
  const counted = await world.alltoallv(doubles, [1, 2], { sendDispls: [2, 0], counts: [1, 1] })
  expectType<Equal<typeof counted, Gathered<Doubles>>>(true)

  // @ts-expect-error one value is not a list of them
  await world.scatter(json)
  // @ts-expect-error counts are numbers
  await world.alltoallv(doubles, ['1'])
  // @ts-expect-error values have no counts
  await world.scatterv([1, 2], [1, 1])
}

/** A generic function says that its data can be sent. */
export async function generic<T>(data: T & SendableValue): Promise<T[]> {
  await world.send(data, 0)
  return world.allgather<T>(data)
}

export async function started(): Promise<void> {
  const sum = await world.iallreduce(doubles, 'sum').wait()
  const [all] = await waitall([world.iallgatherv(shared)])
  expectType<Equal<typeof sum, Doubles>>(true)
  expectType<Equal<typeof all, Gathered<Doubles>>>(true)
  expectType<Json>(await world.ibcast(world.rank === 0 ? json : null).wait())
  // @ts-expect-error a request is not a promise
  world.ibarrier().then
  // @ts-expect-error integers only
  world.iallreduce(doubles, 'band')
}
