import { isMainThread, parentPort } from 'node:worker_threads'
import type { Communicator } from 'rankweave'

/** Uses the channels that Node gives a worker or a process as a program may that knows of no world. */
function useChannels(): void {
  // The word is one of the protocol between a process and the one that started it.
  const own = [null, undefined, 3, {}, { kind: 'failed' }]
  process.removeAllListeners()
  if (isMainThread) for (const message of own) process.send!(message ?? 'none')
  else {
    for (const message of own) parentPort!.postMessage(message)
    parentPort!.removeAllListeners()
    parentPort!.close()
  }
}

useChannels()

/** Waits for a message that no rank sends, if there is a channel to report that. */
export default async function main(world: Communicator, channel: string | undefined): Promise<number> {
  useChannels()
  await world.barrier()
  if (channel !== undefined) {
    const reports = new BroadcastChannel(channel)
    reports.postMessage(world.rank)
    reports.close()
    await world.recv(1 - world.rank, 3)
  }
  return world.rank
}
