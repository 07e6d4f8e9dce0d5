import { givenOptions } from '../../base/option-table.js'
import { RankweaveError } from '../../errors.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import { joinedMpiJob } from '../../fabric/mpi/mpi-job.js'
import type { ReportOptions } from '../../launch/processes/report-triggers.js'
import type { OnlineRequest } from '../../launch/processes/tuning-option.js'
import { type HostedMain, type Main, run } from '../../launch/run.js'
import type { Machine } from '../../machine/machine.js'
import type { MailboxDesign } from '../../messages/process/matching-options.js'
import { ownModule } from '../../package-paths.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'
import { tuningOf } from '../input/world-options.js'
import { watchOutput, worldFailure } from '../output/exit-codes.js'
import { checkProgramFile, guardUserCode, loadProgram } from './load-program.js'
import type { LoadedProgramArgs } from './loaded-program.js'
import { refusePromisesAsNumbers } from './promise-numbers.js'

export interface ProgramOptions {
  /** The program: every thread loads it for itself. */
  readonly file: string
  readonly ranks: number
  readonly fabric: FabricFactory
  readonly args: readonly string[]
  readonly tagOutput: boolean
  readonly diagnose: boolean
  readonly reportAlgorithms: boolean
  readonly reportMatching: boolean
  /** The folder in which matching is recorded; below, the most operations. Undefined: not at all. */
  readonly traceMatching?: string | undefined
  readonly traceCollectives?: boolean | undefined
  readonly traceOperations?: number | undefined
  readonly matchingDesign: MailboxDesign | undefined
  /** Whether the export `hosted` may run; if false, only the default export does. */
  readonly hosted: boolean
  readonly tuning: TuningFile | OnlineRequest | null
  readonly machine: Machine | undefined
  readonly report: ReportOptions
}

/**
 * Loads a program and runs its world. An interrupt ends the world, and so does anything that ends guarded user code.
 *
 * @throws ERR_PROGRAM when it cannot be loaded; WorldFailure whose cause is the world's first error
 */
export async function runUserProgram(options: ProgramOptions): Promise<readonly unknown[]> {
  const { file, ranks, fabric, args, tagOutput, diagnose, reportAlgorithms, reportMatching, hosted } = options
  const { tuning, machine, report, matchingDesign: design, traceMatching: trace, traceOperations } = options
  const traceCollectives = options.traceCollectives === true || undefined
  const matching = givenOptions({
    count: reportMatching || undefined,
    design,
    trace,
    traceCollectives,
    traceOperations,
  })
  const world = {
    ...{ ranks, fabric, diagnose, tuning, report },
    ...(machine === undefined ? {} : { machine }),
    ...(Object.keys(matching).length === 0 ? {} : { matching }),
  }
  if (fabric.needsModule === true) {
    checkProgramFile(file)
    const inThread: LoadedProgramArgs = { file, args, tagOutput, reportAlgorithms, reportMatching }
    return asWorld((signal) =>
      run<unknown, LoadedProgramArgs>(ownProgram('loaded-program'), {
        ...world,
        args: inThread,
        hosted,
        signal,
      }),
    )
  }
  const loaded = await loadProgram(file, hosted)
  // The threads and processes of other worlds load it themselves.
  const { attributed, captureRankOutput } = await import('./rank-output.js')
  const output = captureRankOutput({ tag: tagOutput })
  const { main, hosted: hostedMain = false } = attributed(loaded, {
    ...{ output, reportAlgorithms, reportMatching },
  })
  const permitPromises = refusePromisesAsNumbers()
  try {
    // The world itself detects an empty event loop, and reports the ranks that wait.
    return await asWorld((signal) => run(main, { ...world, args, hosted: hostedMain, signal }), true)
  } finally {
    permitPromises()
    output.restore()
    if (fabric.isJob === true) await leaveMpi()
  }
}

/** The signals that end the world, and by it the command. */
const interrupts = ['SIGINT', 'SIGTERM'] as const

/** Runs a world until it has ended, or an interrupt, or code of the program, ends it. @throws WorldFailure */
export async function asWorld<T>(
  start: (signal: AbortSignal) => Promise<T>,
  mayRunEmpty = false,
): Promise<T> {
  try {
    return await guardUserCode(
      async (signal, end) => {
        // The handler runs once: a second signal has the platform's default effect.
        const onInterrupt = (name: string) =>
          end(new RankweaveError('ERR_ABORTED', `the world was interrupted by ${name}`))
        for (const name of interrupts) process.once(name, onInterrupt)
        const unwatch = watchOutput(end)
        try {
          const results = await start(signal)
          // A stream reports its errors one turn later, and its last write may be lost.
          await new Promise((resolve) => setImmediate(resolve))
          signal.throwIfAborted()
          return results
        } finally {
          for (const name of interrupts) process.off(name, onInterrupt)
          unwatch()
        }
      },
      { mayRunEmpty },
    )
  } catch (cause) {
    throw worldFailure(cause)
  }
}

/** Announces that every process has left the world and is about to exit, with any code. */
export async function leaveMpi(): Promise<void> {
  ;(await joinedMpiJob())?.expectJointExit()
}

interface OwnWorld<A, R = unknown> {
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
function ownProgram(name: string): URL {
  return ownModule(`cli/program/${name}`)
}
