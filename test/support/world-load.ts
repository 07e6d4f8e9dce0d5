import { setImmediate as turn } from 'node:timers/promises'
import type { WorldService } from '../../src/service/worlds/world-service.js'
import { begunWorld } from './asking-member.js'

export interface WorldLoad {
  readonly worlds: number
  readonly members: number
  /** Of split, barrier and free, at each member. */
  readonly rounds: number
}

/**
 * Members of many worlds split, meet and free, over and over, each as fast as it is answered; then all leave.
 *
 * @param collect runs the garbage collector
 * @returns bytes of the heap after a collection, before the first world and after the last
 */
export async function loadWorlds(
  service: WorldService,
  load: WorldLoad,
  collect: () => void,
): Promise<readonly [before: number, after: number]> {
  const heapBytes = []
  for (const rounds of [1, load.rounds]) {
    await oneRound(service, { ...load, rounds })
    while (service.metrics().worlds > 0 || service.metrics().sockets > 0) await turn()
    collect()
    heapBytes.push(process.memoryUsage().heapUsed)
  }
  return heapBytes as [number, number]
}

async function oneRound(service: WorldService, { worlds, members, rounds }: WorldLoad): Promise<void> {
  const all = await Promise.all(Array.from({ length: worlds }, () => begunWorld(service, members)))
  await Promise.all(
    all.flatMap((world) =>
      world.map(async (member, rank) => {
        for (let round = 0; round < rounds; round++) {
          const { comm } = await member.ask('split', { comm: 'world', color: (rank + round) % 3 })
          await member.ask('barrier', { comm: comm! })
          await member.ask('free', { comm: comm! })
        }
        await member.ask('leave', {})
        member.socket.close()
      }),
    ),
  )
}
