import { workerData } from 'node:worker_threads'
import type { Communicator } from '../../comm/communicator.js'
import type { ProcessData } from '../../launch/threads-protocol.js'
import { loadProgram } from './load-program.js'
import { captureRankOutput, type RankOutput } from './rank-output.js'

/** The arguments of a user's program in a worker thread. */
export interface LoadedProgramArgs {
  readonly file: string
  readonly args: readonly string[]
  readonly tagOutput: boolean
}

// Loaded together with this module: a program that cannot be loaded starts no world.
const { file } = (workerData as ProcessData).world.args as LoadedProgramArgs
const program = await loadProgram(file)

let output: RankOutput | undefined
let running = 0

/** The program of `rankweave run` in each thread of its world: a user's program, with its output attributed to ranks. */
export default async function main(world: Communicator, options: LoadedProgramArgs): Promise<unknown> {
  running++
  try {
    output ??= captureRankOutput({ tag: options.tagOutput })
    return await output.asRank(world.rank, () => program(world, options.args))
  } finally {
    if (--running === 0) output?.restore()
  }
}
