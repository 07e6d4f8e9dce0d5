import { abortJobOnEarlyExit } from '../../fabric/mpi/mpi-early-exit.js'
import { joinedMpiJob } from '../../fabric/mpi/mpi-job.js'
import { mpiLauncher } from '../../fabric/mpi/mpi-launcher.js'
import type { Streams } from './streams.js'

/** How long process 0, which reports for all, gets before another process reports why it ends. */
const graceMs = 500

/**
 * True in every process but the first of those that a launcher started to run one command together: only
 * process 0 reports. What the user's program prints is not affected.
 */
export function isMpiFollower(argv: readonly string[], env = process.env): boolean {
  return usesMpi(argv) && (mpiLauncher(env)?.process ?? 0) > 0
}

/** A command that all processes of a job run together, and that fails in one of them, fails the job. */
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

/** Holds back the output of a follower. */
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
    /**
     * Reports why this process alone fails. When all fail, process 0 reports, and the launcher ends the
     * others meanwhile.
     */
    async release() {
      if ((await joinedMpiJob())?.exitsJointly === true) return
      await new Promise((resolve) => setTimeout(resolve, graceMs))
      streams.stderr(held)
    },
  }
}
