// Operations for which a network with a long latency matters: each is called again and again, as in a loop of
// a program.
import type { Communicator } from 'rankweave'
import { expectEqual } from './timing.js'

export interface Slow {
  readonly operation: 'allgather' | 'barrier'
  /** Of the result of an allgather. */
  readonly totalBytes: number
  readonly calls: number
}

const warmUp = 3

/** Milliseconds of one call, the median of all. */
export default async function main(world: Communicator, { operation, totalBytes, calls }: Slow) {
  const block = new Uint8Array(totalBytes / world.size)
  const into = new Uint8Array(totalBytes)
  const samples: number[] = []
  for (let call = 0; call < warmUp + calls; call++) {
    block.fill(world.rank + call)
    const begin = performance.now()
    if (operation === 'barrier') await world.barrier()
    else await world.allgather(block, { into })
    if (call >= warmUp) samples.push(performance.now() - begin)
    if (operation === 'barrier') continue
    for (let rank = 0; rank < world.size; rank++) {
      expectEqual(into[(rank + 1) * block.length - 1], (rank + call) & 0xff, `block of rank ${rank}`)
    }
  }
  samples.sort((a, b) => a - b)
  return { [operation]: samples[samples.length >> 1] }
}
