// The process of the last rank kills itself as `kill -9` does; every other one waits for a message from it,
// and appends when it was notified to a file.
import { appendFileSync } from 'node:fs'
import { type Communicator, isRankweaveError } from 'rankweave'

/** The worst that the benchmark permits. */
const afterMs = 2000

export default async function main(world: Communicator, { file }: { readonly file: string }) {
  const now = () => performance.timeOrigin + performance.now()
  try {
    // The last rank may leave it before the others have.
    await world.barrier()
    if (world.rank === world.size - 1) {
      appendFileSync(file, `${JSON.stringify({ killed: now() })}\n`)
      process.kill(process.pid, 'SIGKILL')
    }
    await world.recv(world.size - 1, 0)
  } catch (error) {
    if (isRankweaveError(error) && error.code === 'ERR_PEER_LOST') {
      appendFileSync(file, `${JSON.stringify({ known: now() })}\n`)
    }
    // The error ends the world: the others must learn of the loss before they learn of that.
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    throw error
  }
}
