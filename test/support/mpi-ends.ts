import type { Communicator } from 'rankweave'

/** Ends in the way that the first argument names. */
export default async function main(world: Communicator, [how]: readonly string[]): Promise<unknown> {
  await world.barrier()
  if (world.rank === 0) console.log('ready')
  switch (how) {
    case 'throw':
      if (world.rank === 3) throw new Error('thrown on purpose')
      break
    case 'uncaught':
      if (world.rank === 3) {
        setImmediate(() => {
          throw new TypeError('nobody catches this')
        })
      }
      break
    case 'deadlock':
      return world.recv((world.rank + 1) % world.size, 5)
    case 'forgotten':
      return world.rank < 2 ? new Promise(() => {}) : world.barrier()
    case 'function':
      return world.rank === 3 ? () => 3 : null
    case 'traffic':
      for (;;) await world.allreduce(Float64Array.of(world.rank), 'sum')
  }
  // Waits, but something else could still happen.
  return world.recv(world.rank, 3, { signal: new AbortController().signal })
}
