import { joinedMpiJob } from '../../fabric/mpi/mpi-job.js'
import { mpiLauncher } from '../../fabric/mpi/mpi-launcher.js'
import type { Streams } from './streams.js'

/** How long process 0, which speaks for all, gets before another process says why it ends. */
const graceMs = 500

/**
 * True in all processes but the first of those that a launcher started to run one command together: only process 0
 * answers. What the user's program prints is its own affair.
 */
export function isMpiFollower(argv: readonly string[], env = process.env): boolean {
  const end = argv.indexOf('--')
  const own = argv.slice(0, end < 0 ? undefined : end)
  const usesMpi =
    own[0] === 'mpi-info' ||
    own.some((word, n) => word === '--fabric=mpi' || (word === 'mpi' && own[n - 1] === '--fabric'))
  return usesMpi && (mpiLauncher(env)?.process ?? 0) > 0
}

/** Keeps what a follower says to itself. */
export function followerStreams(streams: Streams): { readonly streams: Streams; tell(): Promise<void> } {
  let said = ''
  return {
    streams: {
      stdout: () => {},
      stderr: (text) => {
        said += text
      },
    },
    /** Why this process alone fails. When all do, process 0 says it, and the launcher ends the others meanwhile. */
    async tell() {
      if ((await joinedMpiJob())?.endsTogether === true) return
      await new Promise((resolve) => setTimeout(resolve, graceMs))
      streams.stderr(said)
    },
  }
}

/** All processes have left the world and will exit now, whatever with. */
export async function leaveMpi(): Promise<void> {
  ;(await joinedMpiJob())?.endTogether()
}
