// What the worlds of the leak test do: end in every way there is. Loaded as JavaScript from the built
// package.
import { pid } from 'node:process'
import { setTimeout as later } from 'node:timers/promises'

/** @param {import('rankweave').Communicator} world @param {{ end: string }} args */
export default async function main(world, { end }) {
  const half = await world.split(world.rank % 2, world.rank)
  await half.allreduce(new Float64Array(100_000).fill(world.rank), 'sum')
  const sending = world.isend(new Float64Array(50_000), (world.rank + 1) % world.size, 1)
  await world.recv((world.rank + world.size - 1) % world.size, 1)
  await sending.wait()
  const last = world.rank === world.size - 1
  switch (end) {
    case 'returned':
      return pid
    case 'left behind':
      // A timer, a receive that never completes, a message that no rank receives.
      setInterval(() => {}, 1000)
      world.irecv(0, 9)
      await world.send(new Int32Array(10_000), 0, 8)
      return pid
    case 'thrown':
      if (last) throw new TypeError('on purpose')
      return world.recv(world.rank, 2)
    case 'aborted':
      if (last) world.abort('enough')
      return world.recv(world.rank, 2)
    case 'uncaught':
      if (last) setImmediate(() => void Promise.reject(new TypeError('nobody catches this')))
      return last ? later(1e8) : world.recv(world.size - 1, 2)
    case 'exited':
      if (last) process.exit(3)
      return world.recv(world.size - 1, 2)
    case 'stuck':
      return world.recv(world.rank, 2)
    case 'signal':
      return later(1e8)
    default:
      throw new Error(`no such end: ${end}`)
  }
}
