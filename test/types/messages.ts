// Messages: what compiles, what does not, and what comes back. Type-checked by `npm run typecheck`, never
// run.
import { type Communicator, type Message, type Request, type Status, strided } from 'rankweave'
import { type Equal, expectType, type Json } from './support.js'

declare const world: Communicator
declare const doubles: Float64Array
declare const json: Json
declare const maybe: { readonly into?: Float64Array }

export async function sends(): Promise<void> {
  const shape = { count: 2, blockLength: 1, stride: 3 }
  for (const send of [world.send, world.ssend]) {
    expectType<Equal<ReturnType<typeof send>, Promise<void>>>(true)
  }
  for (const isend of [world.isend, world.issend]) {
    expectType<Equal<ReturnType<typeof isend>, Request<void>>>(true)
  }
  await world.send(doubles, 1)
  await world.send(strided(doubles, shape), 1, 7, { signal: AbortSignal.timeout(1) })
  await world.send({ step: 1, some: ['thing', null], at: new Date() }, 1)
  await world.send(json, 1)
  await world.send(new Map([[1, new Set(['x'])]]), 1)
  await world.send(new Error('lost'), 1)
  for (const value of [1, 1n, 'text', true, null, undefined]) await world.send(value, 1)
  world.isend(Buffer.from('bytes'), 1)

  // @ts-expect-error a function cannot be cloned
  await world.send(() => 1, 1)
  // @ts-expect-error nor a promise: await is missing
  world.issend(world.barrier(), 1)
  // @ts-expect-error ranks are numbers
  await world.send(1, '1')
  // @ts-expect-error a destination is required
  await world.send(1)
}

export async function receives(): Promise<void> {
  const message = await world.recv()
  expectType<Equal<typeof message, Message<unknown>>>(true)
  const expected = await world.recv<Json>(0, 1, { signal: AbortSignal.timeout(1) })
  expectType<Equal<typeof expected.data, Json>>(true)
  const filled = await world.recv(0, 1, { into: doubles })
  expectType<Equal<typeof filled.data, Float64Array>>(true)
  const unsure = await world.recv(0, 1, maybe)
  expectType<Equal<typeof unsure.data, unknown>>(true)

  const request = world.irecv<string>(0)
  expectType<Equal<typeof request, Request<Message<string>>>>(true)
  const filling = world.irecv(0, 1, { into: strided(doubles, { count: 1, blockLength: 1, stride: 1 }) })
  expectType<Float64Array>((await filling.wait()).data.array)

  const swapped = await world.sendrecv({ a: 1 }, 1, 2, { sendTag: 1, recvTag: 2 })
  expectType<Equal<typeof swapped.data, unknown>>(true)
  const row = await world.sendrecv(doubles, 1, 2, { into: doubles })
  expectType<Equal<typeof row.data, Float64Array>>(true)
  const named = await world.sendrecv<number>(1, 1, 2)
  expectType<Equal<typeof named.data, number>>(true)

  // @ts-expect-error into decides the type
  await world.recv<string>(0, 1, { into: doubles })
  // @ts-expect-error only arrays and views can be filled
  await world.recv(0, 1, { into: [] })
  // @ts-expect-error what is not known is not a number
  expectType<number>(message.data)
}

export async function probes(): Promise<void> {
  expectType<Equal<Awaited<ReturnType<typeof world.probe>>, Status>>(true)
  expectType<Equal<Awaited<ReturnType<typeof world.iprobe>>, Status | null>>(true)
  const matched = await world.mprobe(0, 1)
  const filled = await matched.recv({ into: doubles })
  expectType<Equal<typeof filled.data, Float64Array>>(true)
  const fresh = matched.irecv<Json>({ signal: AbortSignal.timeout(1) })
  expectType<Equal<typeof fresh, Request<Message<Json>>>>(true)
  // @ts-expect-error into decides the type
  await matched.recv<string>({ into: doubles })
  const polled = await world.improbe()
  // @ts-expect-error there may be none
  polled.recv()
}

export function memory(): void {
  expectType<Uint8Array>(world.alloc(8))
  expectType<BigInt64Array>(world.alloc(BigInt64Array, 8))
  // @ts-expect-error a length is required
  world.alloc(Float64Array)
  // @ts-expect-error a Map holds no elements
  world.alloc(Map, 8)
}
