import type { Communicator } from '../../comm/communicator.js'
import { hostedArgs } from '../../launch/processes/hosted-program.js'
import { refuseExit } from './guard-user-code.js'
import { loadProgram } from './load-program.js'
import { captureRankOutput, type RankOutput, thenReport } from './rank-output.js'

/** The arguments of a user's program in a worker thread or its own process. */
export interface LoadedProgramArgs {
  readonly file: string
  readonly args: readonly string[]
  readonly tagOutput: boolean
  readonly reportAlgorithms: boolean
}

// Loaded together with this module: a program that cannot be loaded starts no world.
const { file } = hostedArgs() as LoadedProgramArgs
const program = await loadProgram(file)

/** Rejects when the program calls `process.exit`, which would make this a lost process. */
const exited = new Promise<never>((_, reject) => {
  const permitExit = refuseExit((error) => {
    // Thrown outside of a rank's main, in a timer, it must not end this worker before the world has ended.
    process.on('uncaughtException', () => {})
    reject(error)
  })
  // Node ends a worker in which an error is uncaught by `process.exit`.
  process.once('uncaughtExceptionMonitor', permitExit)
})
exited.catch(() => {})

let output: RankOutput | undefined
let running = 0

/**
 * The program of `rankweave run` in each thread or process of its world: a user's program, with its output
 * attributed to ranks.
 */
export default async function main(world: Communicator, options: LoadedProgramArgs): Promise<unknown> {
  running++
  try {
    output ??= captureRankOutput({ tag: options.tagOutput })
    const { args, reportAlgorithms } = options
    const result = output.asRank(world.rank, () =>
      reportAlgorithms && world.rank === 0 ? thenReport(program, world, args) : program(world, args),
    )
    return await Promise.race([result, exited])
  } finally {
    if (--running === 0) output?.restore()
  }
}
