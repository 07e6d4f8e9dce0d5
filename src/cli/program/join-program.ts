import { type ErrorCode, isRankweaveError } from '../../errors.js'
import { programDigest } from '../../launch/processes/program-digest.js'
import { checkJoin, join, type NodeJoinOptions } from '../../launch/websocket/join.js'
import type { Joined } from '../../launch/websocket/joined.js'
import { checkProgramFile, loadProgram } from './load-program.js'
import { attributed, captureRankOutput, type RankOutput } from './rank-output.js'
import { asWorld } from './run-program.js'
import { WorldFailure } from './world-failure.js'

/** The codes of errors in the options before the world has begun. */
const badInput = [
  'ERR_ARGUMENT',
  'ERR_WORLD',
  'ERR_PROTOCOL',
  'ERR_FABRIC',
] as const satisfies readonly ErrorCode[]

export interface JoinProgramOptions
  extends Omit<NodeJoinOptions<readonly string[]>, 'program' | 'signal' | 'hosted'> {
  readonly tagOutput: boolean
  /** Whether the export `hosted` may run; if false, only the default export does. */
  readonly hosted: boolean
}

/**
 * Loads a program, joins a world and runs this process's ranks.
 *
 * @throws ERR_PROGRAM, and the codes with which a rendezvous refuses; WorldFailure whose cause is the world's first
 *   error
 */
export async function joinProgram(
  file: string,
  { tagOutput, hosted, ...options }: JoinProgramOptions,
): Promise<Joined<unknown>> {
  checkJoin(options)
  const program = await programDigest(new URL(checkProgramFile(file)))
  const loaded = await loadProgram(file, hosted)
  const output = captureRankOutput({ tag: tagOutput })
  let hasBegun = false
  const begins: RankOutput = {
    ...output,
    asRanks(worlds, call) {
      hasBegun = true
      return output.asRanks(worlds, call)
    },
  }
  const { main, hosted: hostedMain = false } = attributed(loaded, {
    ...{ output: begins, reportAlgorithms: false, reportMatching: false },
  })
  try {
    // The world itself detects an empty event loop, and reports the ranks that wait.
    return await asWorld((signal) => join(main, { ...options, hosted: hostedMain, program, signal }), true)
  } catch (error) {
    const isInput = !hasBegun && error instanceof WorldFailure && isRankweaveError(error.cause, ...badInput)
    throw isInput ? error.cause : error
  } finally {
    output.restore()
  }
}
