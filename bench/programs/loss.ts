// The last rank's worker ends all at once; the first, which waits for a message of its, notes how long it took to know.
import { type Communicator, isRankweaveError } from 'rankweave'

/** `clock`: shared with the caller; [0] when the worker ended, [1] when the first rank knew. */
export default async function main(world: Communicator, { clock }: { readonly clock: SharedArrayBuffer }) {
  const at = new Float64Array(clock)
  const now = () => performance.timeOrigin + performance.now()
  await world.barrier()
  if (world.rank === world.size - 1) {
    at[0] = now()
    process.exit(0)
  }
  try {
    await world.recv(world.size - 1, 0)
  } catch (error) {
    if (isRankweaveError(error) && error.code === 'ERR_PEER_LOST') at[1] = now()
    throw error
  }
}
