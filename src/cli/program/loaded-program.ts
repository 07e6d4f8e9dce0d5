import type { Communicator } from '../../handles/communicator.js'
import { hostedArgs } from '../../launch/processes/hosted-part.js'
import type { HostedMain } from '../../world/user-program.js'
import { loadProgram, type Program, refuseExit } from './load-program.js'
import { refusePromisesAsNumbers } from './promise-numbers.js'
import { attributed, captureRankOutput, type RankOutput } from './rank-output.js'

/** The arguments of a user's program in a worker thread or its own process. */
export interface LoadedProgramArgs {
  readonly file: string
  readonly args: readonly string[]
  readonly tagOutput: boolean
  readonly reportAlgorithms: boolean
  readonly reportMatching: boolean
}

// The program is loaded together with this module: a program that cannot be loaded starts no world.
const { file } = hostedArgs() as LoadedProgramArgs
const program = await loadProgram(file, true)
refusePromisesAsNumbers()

/** Rejects when the program calls `process.exit`, which would make this a lost process. */
const exited = new Promise<never>((_, reject) => {
  const permitExit = refuseExit((error) => {
    // An error thrown outside of a rank's main, in a timer, must not end this worker before the world has ended.
    process.on('uncaughtException', () => {})
    reject(error)
  })
  // Node ends a worker with an uncaught error by `process.exit`, which is permitted then.
  process.once('uncaughtExceptionMonitor', permitExit)
})
exited.catch(() => {})

let output: RankOutput | undefined
let reported: Program | undefined
let running = 0

/** Runs the user's program, with its output attributed to ranks. */
async function run<R>(
  { tagOutput, reportAlgorithms, reportMatching }: LoadedProgramArgs,
  call: (program: Program) => R | PromiseLike<R>,
): Promise<R> {
  running++
  try {
    output ??= captureRankOutput({ tag: tagOutput })
    const reports = { output, reportAlgorithms, reportMatching }
    // All ranks here share a report, which the last one that returns writes.
    reported ??= attributed(program, reports)
    return await Promise.race([call(reported), exited])
  } finally {
    if (--running === 0) output?.restore()
  }
}

/** Runs the user's program of `rankweave run` in each thread or process of its world. */
export default function main(world: Communicator, options: LoadedProgramArgs): Promise<unknown> {
  return run(options, (loaded) => loaded.main(world, options.args))
}

/** The hosted form of the program, if it has one. */
export const hosted: HostedMain<unknown, LoadedProgramArgs> | undefined =
  program.hosted === undefined
    ? undefined
    : (worlds, options) => run(options, (loaded) => loaded.hosted!(worlds, options.args))
