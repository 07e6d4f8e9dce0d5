import { ANY_SOURCE, type Communicator, isRankweaveError, strided } from 'rankweave'

export interface AllocReport {
  /** What the rank's process sent in frames, and copied, while it sent from memory of `alloc`. */
  readonly frameBytes: number
  readonly copiedBytes: number
  readonly shared: boolean
}

/** Longer than any message that is sent at once. */
const long = 100_000

const element = (src: number, dst: number, slot: number, i: number) => src * 1e9 + dst * 1e8 + slot * 1e6 + i

function expectFrom(data: Float64Array, src: number, dst: number, slot: number, from = 0): void {
  if (data.length !== long - from) throw new Error(`expected ${long - from} elements, got ${data.length}`)
  for (let i = 0; i < data.length; i++) {
    if (data[i] !== element(src, dst, slot, i + from))
      throw new Error(`${src} -> ${dst}, slot ${slot}: element ${i} is ${data[i]}`)
  }
}

/** Sends from memory of `alloc` in every way there is; every element holds its source and its place. */
export default async function main(world: Communicator): Promise<AllocReport> {
  const { rank, size } = world
  const memory = world.alloc(Float64Array, long)
  const fill = (dst: number, slot: number) => {
    for (let i = 0; i < long; i++) memory[i] = element(rank, dst, slot, i)
  }
  const next = (rank + 1) % size
  const previous = (rank + size - 1) % size
  const { process } = world.counters
  const before = { ...process }
  // Other ranks of this process start after all have noted where they started, and none continues before all
  // are done.
  await world.barrier()

  // A ring: the data may be changed as soon as the send has resolved.
  for (let slot = 0; slot < 3; slot++) {
    fill(next, slot)
    const sending = world.isend(memory, next, slot)
    const into = slot === 1 ? world.alloc(Float64Array, long) : undefined
    const options = into === undefined ? {} : { into }
    const data = (await world.recv(previous, slot, options)).data as Float64Array
    if (into !== undefined && data !== into) throw new Error('into was not filled')
    expectFrom(data, previous, rank, slot)
    if (into === undefined && data.buffer instanceof SharedArrayBuffer)
      throw new Error("a result must be nobody else's")
    await sending.wait()
    memory.fill(-1)
  }
  await world.barrier()
  const frameBytes = process.frameBytesSent - before.frameBytesSent
  const copiedBytes = process.bytesCopied - before.bytesCopied
  await world.barrier()

  // A part of it; before its receive; by a matched probe; synchronously.
  fill(next, 3)
  const part = world.issend(memory.subarray(7), next, 3)
  await world.barrier()
  const matched = await world.mprobe(ANY_SOURCE, 3)
  expectFrom((await matched.recv<Float64Array>()).data, previous, rank, 3, 7)
  await part.wait()

  // Into every second element.
  fill(next, 4)
  const sending = world.isend(memory, next, 4)
  const spread = strided(new Float64Array(2 * long), { count: long, blockLength: 1, stride: 2 })
  await world.recv(previous, 4, { into: spread })
  expectFrom(
    Float64Array.from({ length: long }, (_, i) => spread.array[2 * i]),
    previous,
    rank,
    4,
  )
  await sending.wait()

  // Refused by its receiver, which consumes it; and taken back by its sender.
  fill(next, 5)
  const refused = world.isend(memory, next, 5)
  const code = await world
    .recv(previous, 5, { into: new Float64Array(3) })
    .catch((error) => isRankweaveError(error) && error.code)
  if (code !== 'ERR_TRUNCATE') throw new Error(`expected ERR_TRUNCATE, got ${code}`)
  await refused.wait()
  const cancelled = world.isend(memory, next, 6)
  await world.barrier()
  cancelled.cancel()
  const outcome = await cancelled.wait().catch((error) => isRankweaveError(error) && error.code)
  if (outcome !== 'ERR_ABORTED') throw new Error(`expected ERR_ABORTED, got ${outcome}`)
  await world.barrier()
  if ((await world.iprobe(previous, 6)) !== null)
    throw new Error('a message that was taken back is still there')

  // Inside a value, which is copied with it.
  const note = world.alloc(Float64Array, 2).fill(rank)
  const { data: given } = await world.sendrecv<{ note: Float64Array }>({ note }, next, previous)
  if (given.note.buffer instanceof SharedArrayBuffer || given.note.some((each) => each !== previous))
    throw new Error('expected a copy of the array of the other rank')

  // Nothing at all, and odd bytes.
  const empty = world.alloc(0)
  const odd = world.alloc(200_001).subarray(1)
  odd.fill(rank)
  const sends = [world.isend(empty, next, 7), world.isend(odd, next, 8)]
  const nothing = await world.recv<Uint8Array>(previous, 7)
  const bytes = await world.recv<Uint8Array>(previous, 8)
  if (nothing.count !== 0 || bytes.count !== 200_000 || bytes.data.some((byte) => byte !== previous))
    throw new Error('wrong bytes')
  for (const send of sends) await send.wait()
  return { frameBytes, copiedBytes, shared: memory.buffer instanceof SharedArrayBuffer }
}
