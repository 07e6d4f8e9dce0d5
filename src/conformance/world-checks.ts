import { RankweaveError } from '../errors.js'
import { waitall } from '../messages/p2p/request.js'
import { ranksOf, same } from './collective-oracles.js'
import type { WorldCase } from './world-case.js'
import { misplaced, placeHere } from './world-case.js'

/** The cases of identity and counters of a world, and of progress of its event loops. */
export const worldChecks: readonly WorldCase[] = [
  {
    name: 'the world has the expected fabric, processes, threads and OS processes',
    async check(world, { expected }) {
      const { fabric, layout } = world.seat().state.runtime
      same(fabric.kind, expected.kind, 'kind of the fabric')
      same(fabric.processes, expected.processes, 'processes of the fabric')
      same(world.size, expected.ranks, 'ranks')
      const mine = Int32Array.of(world.location.process, world.location.node, ...placeHere())
      const all = await world.allgather(mine)
      const placeOf = new Map<number, Int32Array>()
      const ranksOn = new Array<number>(expected.processes).fill(0)
      let before = 0
      for (const rank of ranksOf(world)) {
        const [process, node] = all.subarray(5 * rank, 5 * rank + 2)
        const place = all.slice(5 * rank + 2, 5 * rank + 5)
        same(process >= before && process < expected.processes, true, `process ${process} of rank ${rank}`)
        before = process
        ranksOn[process]++
        same(node, layout.nodeOfProcess[process], `node of process ${process}`)
        same(place, placeOf.get(process) ?? place, `place of process ${process}`)
        placeOf.set(process, place)
      }
      if (expected.ranksPerProcess !== undefined)
        same(ranksOn, [...expected.ranksPerProcess], 'ranks per process')
      const wrong = misplaced([...placeOf.values()], expected.places)
      if (wrong !== undefined) throw new Error(wrong)
    },
  },
  {
    name: 'counters report messages and bytes, within and between processes',
    async check(world) {
      const { size } = world
      const before = { rank: { ...world.counters.rank }, process: { ...world.counters.process } }
      // Messages may arrive before they are received, but not before every rank has read its counters.
      await world.barrier()
      const bytes = 24
      for (const dest of ranksOf(world)) await world.send(new Float64Array(bytes / 8), dest)
      for (const source of ranksOf(world)) await world.recv(source)
      const after = world.counters
      const counted = (name: keyof typeof after.rank) => after.rank[name] - before.rank[name]
      same(counted('messagesSent'), size, 'messagesSent')
      same(counted('messagesReceived'), size, 'messagesReceived')
      same(counted('bytesSent'), size * bytes, 'bytesSent')
      same(counted('bytesReceived'), size * bytes, 'bytesReceived')
      same(counted('collectives'), 1, 'collectives')
      const { process } = world.location
      const processes = await world.allgather(Int32Array.of(process))
      same(counted('collectives'), 2, 'collectives')
      const here = processes.filter((other) => other === process).length
      // Other ranks here count too, and this one's frames may be counted since the others' began.
      const grown = (name: keyof typeof after.process) => after.process[name] - before.process[name]
      same(grown('messagesInProcess') >= here, true, 'messagesInProcess')
      same(grown('framesSent') >= size - here, true, 'framesSent')
      same(grown('framesReceived') >= size - here, true, 'framesReceived')
      same(grown('frameBytesSent') >= (size - here) * bytes, true, 'frameBytesSent')
      same(grown('frameBytesReceived') >= (size - here) * bytes, true, 'frameBytesReceived')
      if (here === size) return
      // No message between processes may have been counted as one inside a process.
      const inside = await world.allreduce(Int32Array.of(grown('messagesInProcess')), 'max')
      same(
        inside[0] <= maxInside(processes),
        true,
        'messagesInProcess counts messages between its ranks only',
      )
    },
  },
  {
    name: 'timers of a process run while its ranks wait',
    async check(world) {
      const { rank, size } = world
      const [to, from] = [(rank + 1) % size, (rank + size - 1) % size]
      const waiting = world.irecv(from, 1)
      let ticks = 0
      await new Promise<void>((resolve) => {
        const timer = setInterval(() => {
          if (++ticks < 3) return
          clearInterval(timer)
          resolve()
        }, 1)
      })
      await waitall([world.isend(null, to, 1), waiting])
      same(ticks, 3, 'ticks of a timer')
    },
  },
]

/** Returns the messages between the ranks of the fullest process when each sends one to each. */
function maxInside(processes: Int32Array): number {
  const ranksOn = new Map<number, number>()
  for (const process of processes) ranksOn.set(process, (ranksOn.get(process) ?? 0) + 1)
  return Math.max(...ranksOn.values()) ** 2
}

/** The early ends of a world: each case ends the world in which it runs. */
export const endingChecks: readonly WorldCase[] = [
  {
    name: 'abort ends the world while its ranks wait in any call',
    fails: 'ERR_WORLD_ABORTED',
    async check(world) {
      await world.barrier()
      if (world.rank === world.size - 1) world.abort('enough')
      // Rank 0 never calls the barrier.
      if (world.rank % 2 === 0) await world.recv(world.rank, 1)
      else await world.barrier()
    },
  },
  {
    name: 'an error thrown by a rank ends the world with its code',
    fails: 'ERR_TOPOLOGY',
    async check(world) {
      await world.barrier()
      if (world.rank === world.size - 1) throw new RankweaveError('ERR_TOPOLOGY', 'on purpose')
      await world.recv(world.rank, 1)
    },
  },
  {
    name: 'a cycle of waiting ranks is reported as a deadlock',
    fails: 'ERR_DEADLOCK',
    async check(world) {
      await world.barrier()
      await world.recv((world.rank + 1) % world.size, 1)
    },
  },
]
