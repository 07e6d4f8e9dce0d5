import type { Communicator } from 'rankweave'
import { expectEqual } from './timing.js'

// Half the round trip of a message, as the mean over a second: beside other programs the slowest trips count, too.

export interface RoundTrips {
  readonly sizes: readonly number[]
  /** Messages there, for each message back. Default: 1. */
  readonly window?: number
}

const warmUpMs = 500
const measuredMs = 1000

/** The first byte of the last message. */
const lastTrip = 255

/** Microseconds of half a round trip. @param trip sends an array and returns the answer, which has the same bytes */
export async function halfTripUs(
  sizeBytes: number,
  trip: (out: Uint8Array) => Promise<Uint8Array>,
): Promise<number> {
  const out = new Uint8Array(sizeBytes)
  for (let i = 0; i < 5; i++) {
    out.fill(i)
    const answer = await trip(out)
    for (const at of [0, sizeBytes >> 1, sizeBytes - 1])
      expectEqual(answer[at], i, `${sizeBytes} bytes there and back`)
  }
  const during = async (ms: number) => {
    const begin = performance.now()
    for (let trips = 1; ; trips++) {
      await trip(out)
      const took = performance.now() - begin
      if (took >= ms) return (took * 1000) / trips / 2
    }
  }
  await during(warmUpMs)
  const figure = await during(measuredMs)
  out[0] = lastTrip
  await trip(out)
  return figure
}

/** Whether a message is the last of its size. */
export const isLast = (message: Uint8Array): boolean => message[0] === lastTrip

/** Between two ranks, microseconds by size. */
export default async function main(world: Communicator, { sizes, window = 1 }: RoundTrips) {
  const peer = 1 - world.rank
  const figures: Record<string, number> = {}
  for (const sizeBytes of sizes) {
    const into = new Uint8Array(sizeBytes)
    const options = { into }
    if (world.rank === 0) {
      figures[sizeBytes] = await halfTripUs(sizeBytes, async (out) => {
        for (let i = 0; i < window; i++) await world.send(out, peer)
        await world.recv(peer, 0, options)
        return into
      })
    } else {
      do {
        for (let i = 0; i < window; i++) await world.recv(peer, 0, options)
        await world.send(into, peer)
      } while (!isLast(into))
    }
  }
  return figures
}
