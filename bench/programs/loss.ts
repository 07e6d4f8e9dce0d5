// The worker of the last rank exits; the first rank, which waits for a message from it, records when it is
// notified.
import { type Communicator, isRankweaveError } from 'rankweave'

/** `clock`: shared with the caller; [0] when the worker ended, [1] when the first rank was notified. */
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
