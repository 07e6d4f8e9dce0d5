// A window of messages one way, each between its own buffers, and one answer per window.
import { type Communicator, waitall } from 'rankweave'
import { bytesIn, type MemoryKind } from './memory.js'
import { type Effort, expectEqual, timed } from './timing.js'

export interface Stream {
  readonly memory: MemoryKind
  readonly sizes: readonly ({ readonly sizeBytes: number; readonly window: number } & Effort)[]
}

/** Microseconds per message by size. */
export default async function main(world: Communicator, { memory, sizes }: Stream) {
  const figures: Record<string, number> = {}
  for (const { sizeBytes, window, ...effort } of sizes) {
    const slots = Array.from({ length: window }, () => bytesIn(memory, world, sizeBytes))
    const landings = slots.map((into) => ({ into }))
    const answer = new Uint8Array(1)
    const windows =
      world.rank === 0
        ? async (iterations: number) => {
            for (let i = 0; i < iterations; i++) {
              await waitall(slots.map((slot) => world.isend(slot, 1)))
              await world.recv(1, 1, { into: answer })
            }
          }
        : async (iterations: number) => {
            for (let i = 0; i < iterations; i++) {
              await waitall(landings.map((landing) => world.irecv(0, 0, landing)))
              await world.send(answer, 0, 1)
            }
          }
    for (let i = 0; i < 3; i++) {
      for (const [w, slot] of slots.entries()) slot.fill(world.rank === 0 ? (w + i + 1) & 0xff : 0)
      await windows(1)
      for (const [w, slot] of slots.entries())
        for (const at of [0, sizeBytes >> 1, sizeBytes - 1])
          expectEqual(slot[at], (w + i + 1) & 0xff, `stream of ${sizeBytes} bytes`)
    }
    figures[sizeBytes] = (await timed(world, windows, effort)) / window
  }
  return figures
}
