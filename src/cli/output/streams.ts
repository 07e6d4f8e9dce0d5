import { joinedMpiJob } from '../../fabric/mpi/mpi-job.js'
import { abortJobOnEarlyExit, mpiLauncher } from '../../fabric/mpi/mpi-launcher.js'
import { type ExitCode, exitCodes, OutputLost } from './exit-codes.js'
import { ownCommand } from './own-command.js'

/** The streams to which a command writes. Tests pass their own. */
export interface Streams {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  /** Whether standard error is a terminal: then progress is shown by the second. */
  readonly showsProgress: boolean
  /** Returns the words that start the command in lines for users to type. Default: `rankweave`. */
  readonly ownCommand?: () => string
}

/** Standard output and error of this process. */
interface ProcessStreams extends Streams {
  /** Resolves when everything is written: to null, or to the reason why some of it was lost. */
  readonly flushed: () => Promise<OutputLost | null>
}

/**
 * Returns standard output and error of this process.
 *
 * @param ownStdout only the command's own result goes to standard output; all other output of this process, such as
 *   that of a user's program from its first import to its exit handlers, goes to standard error
 */
export function processStreams({ ownStdout }: { readonly ownStdout: boolean }): ProcessStreams {
  const { stdout, stderr } = process
  let lost: OutputLost | null = null
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error) => {
      lost ??= new OutputLost(error)
    })
  }
  const write = stdout.write.bind(stdout)
  if (ownStdout) stdout.write = stderr.write.bind(stderr)
  return {
    stdout: (text) => void write(text),
    stderr: (text) => void stderr.write(text),
    showsProgress: stderr.isTTY === true,
    ownCommand: () => ownCommand(),
    flushed: async () => {
      await Promise.all([flushed(stdout, write), flushed(stderr, stderr.write.bind(stderr))])
      // A stream reports its errors one turn later.
      await new Promise((resolve) => setImmediate(resolve))
      return lost
    },
  }
}

/**
 * Returns the exit code of a command whose output was lost. A reader that leaves early (`| head`) ends it as SIGPIPE
 * ends other commands.
 */
export function exitCodeOf(lost: OutputLost): ExitCode {
  return lost.closed ? exitCodes.outputClosed : exitCodes.badInput
}

function flushed(stream: NodeJS.WriteStream, write: NodeJS.WriteStream['write']): Promise<void> {
  if (stream.destroyed || stream.writableLength === 0) return Promise.resolve()
  return new Promise((resolve) => {
    write('', () => resolve())
    stream.once('close', resolve)
  })
}

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
      ownCommand: () => ownCommand(),
    },
    /** Reports why this process alone fails. If all fail, process 0 reports, and the launcher ends the others. */
    async release() {
      if ((await joinedMpiJob())?.exitsJointly === true) return
      await new Promise((resolve) => setTimeout(resolve, graceMs))
      streams.stderr(held)
    },
  }
}
