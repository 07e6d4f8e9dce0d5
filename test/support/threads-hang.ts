import { isMainThread } from 'node:worker_threads'
import type { Communicator } from 'rankweave'

/** What the last rank of the world does while all others wait for the first. */
export interface Hang {
  /**
   * `channel`: posts 'there' on it, and continues on 'go'. `block`: stops its thread until `word` changes.
   */
  readonly last: 'channel' | 'block'
  readonly channel: string
  readonly word?: Int32Array
}

/** Ranks wait, or stop their thread, until they are released. */
export default async function main(
  world: Communicator,
  { last, channel: name, word }: Hang,
): Promise<number> {
  if (isMainThread) throw new Error('expected to run in a worker')
  await world.barrier()
  if (world.rank < world.size - 1) {
    await world.recv(world.size - 1, 7)
    return world.rank
  }
  const channel = new BroadcastChannel(name)
  if (last === 'block') {
    channel.postMessage('there')
    channel.close()
    Atomics.wait(word!, 0, 0)
  } else {
    await new Promise<void>((resolve) => {
      channel.onmessage = () => resolve()
      channel.postMessage('there')
    })
    channel.close()
  }
  await Promise.all(Array.from({ length: world.size - 1 }, (_, rank) => world.send(1, rank, 7)))
  return world.rank
}
