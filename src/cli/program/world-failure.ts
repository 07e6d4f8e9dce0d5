import { type ErrorCode, isRankweaveError, type RankweaveError } from '../../errors.js'
import { isAbortedWorld } from '../../world/aborted-world.js'

/**
 * What a program or command wrote to standard output or error is lost: the reader has left, or the disk is
 * full.
 */
export class OutputLost extends Error {
  override readonly name = 'OutputLost'
  /** The reader has left, as `head` does. */
  readonly closed: boolean

  constructor(cause: NodeJS.ErrnoException) {
    super(`cannot write the output: ${cause.message}`, { cause })
    this.closed = cause.code === 'EPIPE'
  }
}

/**
 * Calls `end` with an {@link OutputLost} when standard output or error fails.
 *
 * @returns stops watching
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

/** A signal has ended what a command ran; `cause` says what follows. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals, cause: RankweaveError) {
    super(cause.message, { cause })
    this.signal = signal
  }
}

/** Codes of errors before there is a world: bad input. */
const notStarted = [
  ...['ERR_PROGRAM', 'ERR_MPI_LAUNCHER', 'ERR_MPI_LIBRARY', 'ERR_MPI_KOFFI'],
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

/** The error to throw when `run` has rejected. */
export function worldFailure(cause: unknown): unknown {
  if (cause instanceof OutputLost || isRankweaveError(cause, ...notStarted)) return cause
  // The command ends a world for its own reason, which the other processes of a job learn wrapped.
  const first = isAbortedWorld(cause) && cause.cause instanceof Error ? cause.cause : cause
  return new WorldFailure('the world failed', { cause: first })
}
