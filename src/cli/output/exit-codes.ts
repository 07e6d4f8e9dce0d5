import { constants } from 'node:os'
import { isAbortedWorld } from '../../base/abort.js'
import { type ErrorCode, isRankweaveError, type RankweaveError } from '../../errors.js'

/** The exit codes. `outputClosed` is the code that a shell reports for a program that SIGPIPE ends. */
export const exitCodes = {
  ok: 0,
  checkFailed: 1,
  badInput: 2,
  worldFailed: 3,
  defect: 70,
  interrupted: 130,
  outputClosed: 141,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Returns the exit code that a shell reports for a program that the signal ends. */
export function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/**
 * The loss of a program's or command's output to standard output or error: the reader has left, or the disk is full.
 */
export class OutputLost extends Error {
  override readonly name = 'OutputLost'
  /** Whether the reader has left, as `head` does. */
  readonly closed: boolean

  constructor(cause: NodeJS.ErrnoException) {
    super(`cannot write the output: ${cause.message}`, { cause })
    this.closed = cause.code === 'EPIPE'
  }
}

/**
 * Calls `end` with an {@link OutputLost} when standard output or error fails.
 *
 * @returns a function that stops watching
 */
export function watchOutput(end: (error: OutputLost) => void): () => void {
  const streams = [process.stdout, process.stderr]
  const onError = (error: Error) => end(new OutputLost(error))
  for (const stream of streams) stream.on('error', onError)
  return () => {
    for (const stream of streams) stream.off('error', onError)
  }
}

/** The error of a command whose program's world failed; `cause` is the world's first error. */
export class WorldFailure extends Error {
  override readonly name = 'WorldFailure'
}

/** The error of a command whose work a signal has ended; `cause` states the consequence. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals, cause: RankweaveError) {
    super(cause.message, { cause })
    this.signal = signal
  }
}

/** The error of a run that was ended because it took longer than its limit. */
export class Overdue extends WorldFailure {}

/** The codes of errors before there is a world: bad input. */
const notStarted = [
  ...['ERR_PROGRAM', 'ERR_MPI_LAUNCHER', 'ERR_MPI_LIBRARY', 'ERR_MPI_KOFFI', 'ERR_KOFFI'],
  ...[
    'ERR_TOKEN',
    'ERR_PROGRAM_MISMATCH',
    'ERR_VERSION_MISMATCH',
    'ERR_TUNING_MISMATCH',
    'ERR_MACHINE_MISMATCH',
    'ERR_WORLD_FULL',
    'ERR_REPLAYED',
    'ERR_LIMIT',
  ],
] as const satisfies readonly ErrorCode[]

/** Returns the error to throw when `run` has rejected. */
export function worldFailure(cause: unknown): unknown {
  if (cause instanceof OutputLost || isRankweaveError(cause, ...notStarted)) return cause
  // The command ends a world for its own reason, which the other processes of a job learn wrapped.
  const first = isAbortedWorld(cause) && cause.cause instanceof Error ? cause.cause : cause
  return new WorldFailure('the world failed', { cause: first })
}
