import { type Communicator, isRankweaveError } from 'rankweave'
import { checkWorld } from 'rankweave/conformance'

/** What processes on two hosts do; the test reads what they print. */
export default async function main(world: Communicator, [what]: readonly string[]): Promise<void> {
  if (what === 'conformance') {
    const processes = new Set(await world.allgather(Int32Array.of(world.location.process))).size
    const names = await checkWorld(world, { kind: 'websocket', processes, places: 'OS processes' })
    if (world.rank === 0) console.log(`passed ${names.length}`)
    return
  }
  await untilLost(world)
}

/** Communicates without end, and tells how it ended; then continues with the ranks that are left. */
async function untilLost(world: Communicator): Promise<void> {
  const code = await (async () => {
    for (let n = 0; ; n++) {
      await world.allreduce(Int32Array.of(n), 'sum')
      if (n === 10) console.log(`rank ${world.rank} communicates`)
    }
  })().catch((error: unknown) => {
    if (!isRankweaveError(error)) throw error
    return error.code === 'ERR_WORLD_ENDED' && isRankweaveError(error.cause) ? error.cause.code : error.code
  })
  console.log(`rank ${world.rank} has ${code}`)
  // Whoever learns of the loss first revokes: the others may see that instead.
  if (code !== 'ERR_PEER_LOST' && code !== 'ERR_REVOKED') return
  await world.revoke()
  const rest = await world.shrink()
  const sum = await rest.allreduce(Int32Array.of(world.rank), 'sum')
  console.log(`rank ${world.rank} is one of ${rest.size}, sum ${sum[0]}`)
}
