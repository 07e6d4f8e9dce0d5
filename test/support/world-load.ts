import { setImmediate as turn } from 'node:timers/promises'
import type { WorldService } from '../../src/service/worlds/world-service.js'
import { type AskingMember, begunWorld } from './asking-member.js'

export interface LoadResult {
  readonly calls: number
  readonly seconds: number
  readonly p99Ms: number
  /** After a collection, before the first world and after the last. */
  readonly heapBytes: readonly [before: number, after: number]
}

/**
 * Members of many worlds split, meet and free, over and over, each as fast as it is answered; then all leave.
 *
 * @param rounds of split, barrier and free at each member @param collect runs the garbage collector
 */
export async function loadWorlds(
  service: WorldService,
  { worlds, members, rounds }: { readonly worlds: number; readonly members: number; readonly rounds: number },
  collect: () => void,
): Promise<LoadResult> {
  await oneRound(service, worlds, members, 1)
  await atRest(service)
  collect()
  const before = process.memoryUsage().heapUsed
  const start = performance.now()
  const latencies = await oneRound(service, worlds, members, rounds)
  const seconds = (performance.now() - start) / 1000
  await atRest(service)
  latencies.sort()
  const calls = latencies.length
  const p99Ms = latencies[Math.floor(calls * 0.99)]
  collect()
  return { calls, seconds, p99Ms, heapBytes: [before, process.memoryUsage().heapUsed] }
}

async function oneRound(
  service: WorldService,
  worlds: number,
  members: number,
  rounds: number,
): Promise<Float64Array> {
  const latencies = new Float64Array(worlds * members * rounds * 3)
  let count = 0
  const all = await Promise.all(Array.from({ length: worlds }, () => begunWorld(service, members)))
  const timed = async <T>(call: Promise<T>): Promise<T> => {
    const start = performance.now()
    const reply = await call
    latencies[count++] = performance.now() - start
    return reply
  }
  await Promise.all(
    all.flatMap((world) =>
      world.map(async (member: AskingMember, rank) => {
        for (let round = 0; round < rounds; round++) {
          const { comm } = await timed(member.ask('split', { comm: 'world', color: (rank + round) % 3 }))
          await timed(member.ask('barrier', { comm: comm! }))
          await timed(member.ask('free', { comm: comm! }))
        }
        await member.ask('leave', {})
        member.socket.close()
      }),
    ),
  )
  return latencies
}

async function atRest(service: WorldService): Promise<void> {
  for (;;) {
    const { worlds, sockets } = service.metrics()
    if (worlds === 0 && sockets === 0) return
    await turn()
  }
}
