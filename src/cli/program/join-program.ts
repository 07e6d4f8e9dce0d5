import { programDigest } from '../../launch/program-digest.js'
import { checkJoin, type Joined, type JoinOptions, joinWith } from '../../launch/websocket-join.js'
import { checkProgramFile, loadProgram, type Program } from './load-program.js'
import { captureRankOutput } from './rank-output.js'
import { asWorld } from './run-program.js'

export interface JoinProgramOptions extends Omit<JoinOptions<readonly string[]>, 'signal'> {
  readonly tagOutput: boolean
}

/**
 * Loads a program, joins a world and runs this process's ranks.
 *
 * @throws ERR_PROGRAM, and the codes with which a rendezvous refuses; WorldFailure whose cause is the world's first error
 */
export async function joinProgram(
  file: string,
  { tagOutput, ...options }: JoinProgramOptions,
): Promise<Joined<unknown>> {
  checkJoin(options)
  const digest = await programDigest(new URL(checkProgramFile(file)))
  const main = await loadProgram(file)
  const output = captureRankOutput({ tag: tagOutput })
  const asRank: Program = (communicator, args) =>
    output.asRank(communicator.rank, () => main(communicator, args))
  try {
    // The world itself detects an empty event loop, and reports the ranks that wait.
    return await asWorld((signal) => joinWith(asRank, digest, { ...options, signal }), true)
  } finally {
    output.restore()
  }
}
