import { run } from '../../comm/run.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import { WorldFailure } from '../command.js'
import { leaveMpi } from '../mpi-streams.js'
import { ownProgram } from '../world-options.js'
import { asGuest } from './guest.js'
import type { Program } from './load-program.js'
import type { LoadedProgramArgs } from './loaded-program.js'
import { captureRankOutput } from './rank-output.js'

export interface ProgramOptions {
  /** Where `main` is from: every thread loads it for itself. */
  readonly file: string
  readonly ranks: number
  readonly fabric: FabricFactory
  readonly args: readonly string[]
  readonly tagOutput: boolean
}

/**
 * Runs a program's world. Besides what fails it by itself, an interrupt ends it, and what else ends a guest.
 *
 * @throws WorldFailure with the first such error as its cause
 */
export async function runProgram(main: Program, options: ProgramOptions): Promise<readonly unknown[]> {
  const { file, ranks, fabric, args, tagOutput } = options
  const output = captureRankOutput({ tag: tagOutput && fabric.kind !== 'threads' })
  try {
    return await asGuest(async (signal, end) => {
      const onInterrupt = () => end(new RankweaveError('ERR_ABORTED', 'the world was interrupted'))
      process.once('SIGINT', onInterrupt)
      // What a launcher sends to end a job.
      if (fabric.kind === 'mpi') process.once('SIGTERM', onInterrupt)
      try {
        if (fabric.kind === 'threads') {
          const inThread: LoadedProgramArgs = { file, args, tagOutput }
          return await run<unknown, LoadedProgramArgs>(ownProgram('loaded-program'), {
            ranks,
            fabric,
            args: inThread,
            signal,
          })
        }
        const asRank: Program = (world, programArgs) =>
          output.asRank(world.rank, () => main(world, programArgs))
        return await run(asRank, { ranks, fabric, args, signal })
      } finally {
        process.off('SIGINT', onInterrupt)
        process.off('SIGTERM', onInterrupt)
      }
    })
  } catch (cause) {
    if (isRankweaveError(cause, ...mpiCodes)) throw cause
    throw new WorldFailure('the world failed', { cause })
  } finally {
    output.restore()
    if (fabric.kind === 'mpi') await leaveMpi()
  }
}

/** There was no world yet. */
const mpiCodes = ['ERR_MPI_LAUNCHER', 'ERR_MPI_LIBRARY', 'ERR_MPI_KOFFI'] as const
