import { workerData } from 'node:worker_threads'
import { RankweaveError, reasonText } from '../../errors.js'
import type { UserProgram } from '../../world/user-program.js'
import { loadExports, type ProgramChoice, programError } from './load-program.js'
import type { ProcessData } from './process-protocol.js'

/**
 * The connection of a worker, or another process, with the thread that called `run`; it may keep the event loop alive.
 */
export interface CallerPort {
  ref(): void
  unref(): void
}

/** Loads the program. @throws ERR_PROGRAM, also when it waits while nothing is left that could wake it */
export async function loadHere(
  program: string,
  port: CallerPort,
  choice: ProgramChoice,
): Promise<UserProgram<unknown, unknown>> {
  let onEmpty: (() => void) | undefined
  const empty = new Promise<never>((_, reject) => {
    const error = programError(
      program,
      `${program} failed to load: it waits, and nothing is left that could wake it`,
    )
    // The rejection comes one turn later, because a program that loads another may handle this event itself.
    onEmpty = () => setImmediate(reject, error)
    process.once('beforeExit', onEmpty)
  })
  // The caller alone must not keep this event loop alive now.
  port.unref()
  try {
    return await Promise.race([loadExports<unknown, unknown>(program, choice), empty])
  } finally {
    port.ref()
    process.off('beforeExit', onEmpty!)
  }
}

/** Resolves when the caller has all output of this thread or process. */
export async function flushedOutput(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()))
  }
}

/** @param clone throws for what cannot leave this thread or process */
export function notCloneable(
  results: readonly unknown[],
  firstRank: number,
  clone: (result: unknown) => unknown,
  cause: unknown,
): RankweaveError {
  const index = results.findIndex((result) => {
    try {
      clone(result)
      return false
    } catch {
      return true
    }
  })
  const who = index < 0 ? 'the values that ranks' : `the value that rank ${firstRank + index}`
  const message = `${who} returned cannot be cloned into another thread or process: ${reasonText(cause)}`
  return new RankweaveError('ERR_CLONE', message, {
    details: index < 0 ? {} : { rank: firstRank + index },
    cause,
  })
}

let ofProcess: { readonly args: unknown } | undefined

/** Sets the arguments in a process of the operating system before it loads the program. */
export function setHostedArgs(args: unknown): void {
  ofProcess = { args }
}

/**
 * Returns the arguments of the world whose process this thread or process hosts, for a program that needs them while it
 * loads.
 */
export function hostedArgs(): unknown {
  return ofProcess === undefined ? (workerData as ProcessData).world.args : ofProcess.args
}
