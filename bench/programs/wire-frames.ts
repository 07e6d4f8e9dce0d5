// What a neighbor allgather sends between processes: messages of the schedule, and frames of the lowered
// program.
import type { Communicator } from 'rankweave'
import type { Strategy } from 'rankweave/schedule'
import { buildTopology } from 'rankweave/topology'
import { expectEqual } from './timing.js'

export interface WireFrames {
  readonly topology: string
  readonly strategies: Readonly<Record<string, Strategy>>
}

/** By strategy, of one call in all processes: messages between processes, and frames that carried them. */
export default async function main(world: Communicator, { topology, strategies }: WireFrames) {
  const figures: Record<string, number> = {}
  for (const [name, strategy] of Object.entries(strategies)) {
    const comm = await world.createTopology(buildTopology(topology), { strategy })
    const into = new Int32Array(comm.sources.length)
    await comm.neighborAllgather(Int32Array.of(comm.rank), { into })
    for (const [s, source] of comm.sources.entries()) expectEqual(into[s], source, 'neighbor allgather')
    await comm.barrier()
    const { messagesSent, framesSent } = comm.traffic
    // Every rank of a process reports the same.
    const perProcess = world.size / world.describe().processes
    const mine = Float64Array.of(messagesSent / perProcess, framesSent / perProcess)
    const [messages, frames] = await world.allreduce(mine, 'sum', { order: 'any' })
    figures[`${name} messages`] = Math.round(messages)
    figures[`${name} frames`] = Math.round(frames)
  }
  return figures
}
