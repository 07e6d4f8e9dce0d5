import { workerData } from 'node:worker_threads'
import { type Communicator, isRankweaveError, type NeighborRequest } from 'rankweave'
import { parseMachine } from 'rankweave/machine'

/** When the last rank's process ends; ranks 0 and 1 are on processes of their own, and continue. */
export type Moment =
  | 'load'
  | 'stream of messages'
  | 'alltoall'
  | 'start of a persistent neighbor allgather'
  | 'start that tries a strategy'
  | 'after its ranks have returned'

export interface Loss {
  readonly moment: Moment
  /** By rank: 1 for having seen ERR_PEER_LOST, and 2 for having gone on with those that are left. */
  readonly seen: Int32Array
}

const { connection, world: given } = workerData as {
  readonly connection: { readonly process: number; readonly nodes: readonly string[] }
  readonly world: { readonly args: Loss }
}
const last = connection.nodes.length - 1

if (given.args.moment === 'load' && connection.process === last) process.exit(5)

/** Operations that involve the lost process fail; all others do what they always do. */
export default async function main(world: Communicator, { moment, seen }: Loss): Promise<void> {
  const pair = await world.split(world.rank < last ? 0 : null)
  // From here on no rank is in an earlier collective.
  if (pair === null) {
    for (let rank = 0; rank < last; rank++) await world.recv(rank, 2)
    await die(world, moment)
    return
  }
  await world.send(0, last, 2)
  await involve(world, moment).then(
    () => {},
    (error: unknown) => {
      if (!isRankweaveError(error, 'ERR_PEER_LOST')) throw error
      seen[world.rank] = 1
    },
  )
  const sum = await pair.allreduce(Int32Array.of(world.rank + 1), 'sum')
  const big = new Float64Array(200_000).fill(world.rank)
  const { data } = await pair.sendrecv(big, 1 - pair.rank, 1 - pair.rank)
  const half = await pair.dup()
  await half.barrier()
  if (sum[0] === 3 && (data as Float64Array)[199_999] === 1 - pair.rank) seen[world.rank] += 2
}

/** What ranks 0 and 1 do with the last one. */
async function involve(world: Communicator, moment: Moment): Promise<void> {
  switch (moment) {
    case 'stream of messages':
      for (;;) await world.recv(last, 1)
    case 'alltoall':
      await world.alltoall(new Int32Array(world.size * 100_000))
      // The last one may have sent all of it; then the loss shows in the next call.
      await world.recv(last, 1)
      return
    case 'start of a persistent neighbor allgather':
    case 'start that tries a strategy': {
      const request = await exchangeOnRing(world, moment)
      for (;;) await request.start()
    }
    default:
      await world.recv(last, 1)
  }
}

/** Blocks that are long enough to be fetched, around a ring of all ranks. */
async function exchangeOnRing(world: Communicator, moment: Moment): Promise<NeighborRequest> {
  const { rank, size } = world
  const isTuned = moment === 'start that tries a strategy'
  const graph = await world.createDistGraphAdjacent({
    sources: [(rank + size - 1) % size],
    destinations: [(rank + 1) % size],
    ...(isTuned ? { machine: parseMachine(`cluster:nodes=${size},cores=1,profile=simgrid-slow`) } : {}),
  })
  const blocks = [new Float64Array(100_000), new Float64Array(100_000)] as const
  return graph.neighborAllgatherInit(...blocks, { tune: isTuned && { within: 1000, starts: 100 } })
}

/** Ends the process of the last rank in the middle of `moment`. */
async function die(world: Communicator, moment: Moment): Promise<void> {
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  switch (moment) {
    case 'stream of messages':
      for (let n = 0; n < 100; n++) for (const rank of [0, 1]) void world.isend(Float64Array.of(n), rank, 1)
      break
    case 'alltoall':
      world.alltoall(new Int32Array(world.size * 100_000)).catch(() => {})
      await turn()
      break
    case 'start of a persistent neighbor allgather':
    case 'start that tries a strategy': {
      const request = await exchangeOnRing(world, moment)
      await request.start()
      request.start().catch(() => {})
      await turn()
      break
    }
    case 'after its ranks have returned':
      setTimeout(() => process.exit(5))
      return
  }
  process.exit(5)
}
