import { joinedMpiJob } from '../../fabric/mpi/mpi-job.js'
import { abortJobOnEarlyExit, mpiLauncher } from '../../fabric/mpi/mpi-launcher.js'
import type { Streams } from './streams.js'

/** The time that process 0, which reports for all, has before another process reports why it ends. */
const graceMs = 500

/**
 * Returns true in every process but the first of those that a launcher started to run one command together: only
 * process 0 reports. The output of the user's program is not affected.
 */
export function isMpiFollower(argv: readonly string[], env = process.env): boolean {
  return usesMpi(argv) && (mpiLauncher(env)?.process ?? 0) > 0
}

/** Lets a command that all processes of a job run together fail the job if it fails in one of them. */
export function abortMpiOnEarlyExit(argv: readonly string[]): void {
  if (usesMpi(argv)) abortJobOnEarlyExit()
}

function usesMpi(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const own = argv.slice(0, end < 0 ? undefined : end)
  return (
    own[0] === 'mpi-info' ||
    own.some((word, n) => word === '--fabric=mpi' || (word === 'mpi' && own[n - 1] === '--fabric'))
  )
}

/** Returns streams that hold back the output of a follower. */
export function followerStreams(streams: Streams): { readonly streams: Streams; release(): Promise<void> } {
  let held = ''
  return {
    streams: {
      stdout: () => {},
      stderr: (text) => {
        held += text
      },
      showsProgress: false,
    },
    /** Reports why this process alone fails. If all fail, process 0 reports, and the launcher ends the others. */
    async release() {
      if ((await joinedMpiJob())?.exitsJointly === true) return
      await new Promise((resolve) => setTimeout(resolve, graceMs))
      streams.stderr(held)
    },
  }
}
