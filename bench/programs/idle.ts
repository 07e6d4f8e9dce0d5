// All ranks but the first wait in a receive; the first, which sleeps, wakes them one after the other.
import type { Communicator } from 'rankweave'

/** A monotonic clock, the same for all processes of a machine. */
const nowMs = () => Number(process.hrtime.bigint()) / 1e6

/**
 * `idle`: percent of one core that the operating system's process of rank 0 used; `idleWorst`: the maximum
 * over all processes. `firstMs`: the longest latency of the first message after the pause.
 */
export default async function main(world: Communicator, { waitMs }: { readonly waitMs: number }) {
  await world.barrier()
  const before = process.cpuUsage()
  const begin = nowMs()
  let underWayMs = 0
  if (world.rank === 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
  else {
    const { data: sentAt } = await world.recv<number>(0, 0)
    underWayMs = nowMs() - sentAt
  }
  const { user, system } = process.cpuUsage(before)
  const idle = ((user + system) / 1000 / (nowMs() - begin)) * 100
  if (world.rank === 0) for (let rank = 1; rank < world.size; rank++) await world.send(nowMs(), rank)
  const [idleWorst, firstMs] = await world.allreduce(Float64Array.of(idle, underWayMs), 'max')
  if (firstMs < 0 || firstMs > waitMs) throw new Error(`wrong result: idle: ${firstMs} ms`)
  return { idle, idleWorst, firstMs }
}
