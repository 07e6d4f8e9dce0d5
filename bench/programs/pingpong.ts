// Half the round trip of one message between two ranks, with the await API.
import type { Communicator } from 'rankweave'
import { bytesIn, type MemoryKind } from './memory.js'
import { type Effort, expectEqual, timed } from './timing.js'

export interface PingPong {
  readonly memory: MemoryKind
  readonly sizes: readonly ({ readonly sizeBytes: number } & Effort)[]
}

/** Microseconds by size. */
export default async function main(world: Communicator, { memory, sizes }: PingPong) {
  const peer = 1 - world.rank
  const figures: Record<string, number> = {}
  for (const { sizeBytes, ...effort } of sizes) {
    const out = bytesIn(memory, world, sizeBytes)
    let into = bytesIn(memory, world, sizeBytes)
    const options = memory === 'fresh' ? {} : { into }
    const roundTrips =
      world.rank === 0
        ? async (iterations: number) => {
            for (let i = 0; i < iterations; i++) {
              await world.send(out, 1)
              into = (await world.recv(1, 0, options)).data as Uint8Array
            }
          }
        : async (iterations: number) => {
            for (let i = 0; i < iterations; i++) {
              into = (await world.recv(0, 0, options)).data as Uint8Array
              await world.send(out, 0)
            }
          }
    for (let i = 0; i < 5; i++) {
      out.fill((world.rank * 100 + i) & 0xff)
      await roundTrips(1)
      for (const at of [0, sizeBytes >> 1, sizeBytes - 1])
        expectEqual(into[at], (peer * 100 + i) & 0xff, `ping-pong of ${sizeBytes} bytes`)
    }
    figures[sizeBytes] = (await timed(world, roundTrips, effort)) / 2
  }
  return figures
}
