import { givenOptions } from '../../base/option-table.js'
import { RankweaveError } from '../../errors.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import type { ReportOptions } from '../../launch/processes/report-triggers.js'
import type { OnlineRequest } from '../../launch/processes/tuning-option.js'
import { run } from '../../launch/run.js'
import type { Machine } from '../../machine/machine.js'
import type { MailboxDesign } from '../../messages/process/matching-options.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'
import { watchOutput, worldFailure } from '../output/exit-codes.js'
import { checkProgramFile, guardUserCode, loadProgram } from './load-program.js'
import type { LoadedProgramArgs } from './loaded-program.js'
import { attributed, captureRankOutput } from './rank-output.js'
import { leaveMpi, ownProgram } from './run-own-program.js'

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
  const output = captureRankOutput({ tag: tagOutput })
  const { main, hosted: hostedMain = false } = attributed(loaded, {
    ...{ output, reportAlgorithms, reportMatching },
  })
  try {
    // The world itself detects an empty event loop, and reports the ranks that wait.
    return await asWorld((signal) => run(main, { ...world, args, hosted: hostedMain, signal }), true)
  } finally {
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
