import type { FabricFactory } from '../../fabric/fabric.js'
import { joinedMpiJob } from '../../fabric/mpi/mpi-job.js'
import type { ReportOptions } from '../../launch/processes/report-triggers.js'
import { type HostedMain, type Main, run } from '../../launch/run.js'
import { ownModule } from '../../package-paths.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'
import { tuningOf } from '../input/world-options.js'
import { worldFailure } from '../output/exit-codes.js'

/** Announces that every process has left the world and is about to exit, with any code. */
export async function leaveMpi(): Promise<void> {
  ;(await joinedMpiJob())?.expectJointExit()
}

export interface OwnWorld<A, R = unknown> {
  readonly ranks: number
  readonly fabric: FabricFactory
  readonly args: A
  /** The form of `main` for all ranks of a process, which the module exports as `hosted`. Default: none. */
  readonly hosted?: HostedMain<R, A>
  /** The tuning file; null for none. Default: that of RANKWEAVE_TUNING. */
  readonly tuning?: TuningFile | null
  readonly report: ReportOptions
  /** A signal that ends the world. */
  readonly signal?: AbortSignal
}

/** The modules in this folder that are programs; the package has each as its own file. */
export const ownPrograms = [
  'calibrate-program',
  'measure-program',
  'overview-program',
  'spmm-program',
  'split-program',
  'study-program',
] as const
type OwnProgram = (typeof ownPrograms)[number]

/**
 * Runs one of our own programs on a world. Returns the results of all ranks in process 0, and null in the other
 * processes of a job, which report nothing.
 *
 * @param name of the module in this folder whose default export is `main`: every thread loads it for itself
 * @throws ERR_FILE, ERR_TUNING for the tuning file; WorldFailure whose cause is the world's first error
 */
export async function runOwnProgram<R, A>(
  name: OwnProgram,
  main: Main<R, A>,
  { hosted, tuning: given, ...rest }: OwnWorld<A, R>,
): Promise<readonly R[] | null> {
  // A file that cannot be used is bad input, not the failure of a world.
  const tuning = given === undefined ? await tuningOf({}, rest.fabric.kind) : given
  const world = { ...rest, tuning }
  try {
    const results = await (world.fabric.needsModule === true
      ? run<R, A>(ownProgram(name), world)
      : run<R, A>(main, { ...world, ...(hosted === undefined ? {} : { hosted }) }))
    return results.length < world.ranks ? null : results
  } catch (cause) {
    throw worldFailure(cause)
  } finally {
    await leaveMpi()
  }
}

/** Returns one of our own modules as a program that every thread can load. */
export function ownProgram(name: string): URL {
  return ownModule(`cli/program/${name}`)
}
