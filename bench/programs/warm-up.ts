// How many messages two ranks exchange before a message takes little more time than ever after.
import type { Communicator } from 'rankweave'
import { bytesIn, type MemoryKind } from './memory.js'

export interface WarmUp {
  readonly memory: MemoryKind
  readonly sizeBytes: number
}

/** Round trips of a batch, and of all. */
const perBatch = 20
const roundTrips = 20_000
const longestMs = 4000
/** Batches whose median is the time of a moment. */
const moment = 5
const factor = 1.5

/** Messages until the median of five batches was first within 1.5 times that of the last quarter. */
export default async function main(world: Communicator, { memory, sizeBytes }: WarmUp) {
  const peer = 1 - world.rank
  const out = bytesIn(memory, world, sizeBytes).fill(world.rank)
  const options = { into: bytesIn(memory, world, sizeBytes) }
  const times: number[] = []
  const begun = performance.now()
  const isOver = () => times.length >= moment * 8 && performance.now() - begun > longestMs
  for (let more = 1; more === 1; ) {
    const begin = performance.now()
    for (let i = 0; i < perBatch; i++) {
      if (world.rank === 0) await world.send(out, peer)
      await world.recv(peer, 0, options)
      if (world.rank === 1) await world.send(out, peer)
    }
    times.push(performance.now() - begin)
    const mine = times.length * perBatch >= roundTrips || isOver() ? 0 : 1
    // Each batch is followed by the word of rank 0, on which both agree.
    if (world.rank === 0) await world.send(Int32Array.of(mine), 1, 1)
    more = world.rank === 0 ? mine : (await world.recv<Int32Array>(0, 1)).data[0]
  }
  const warm = medianOf(times.slice(-Math.ceil(times.length / 4)))
  let first = 0
  while (medianOf(times.slice(first, first + moment)) > factor * warm) first++
  return { messages: 2 * perBatch * first, warmUs: (warm * 1000) / perBatch / 2 }
}

function medianOf(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[times.length >> 1]
}
