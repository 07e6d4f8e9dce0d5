import { workerData } from 'node:worker_threads'
import { RankweaveError, reasonText } from '../../errors.js'
import { decodeError, encodeError } from '../../messages/process/error-record.js'
import { hostUntilEmpty } from '../../world/empty-loop.js'
import { warnOfUnfinished } from '../../world/unfinished.js'
import type { UserProgram } from '../../world/user-program.js'
import type { RunningWorld, WorldOptions } from '../../world/world.js'
import { loadUnlessEmpty, type ProgramChoice } from './load-program.js'
import { withMatchingTraces } from './optional-parts.js'
import { type FromProcess, maxErrorBytes, type ProcessData, type ToProcess } from './process-protocol.js'

type Post = (message: Exclude<FromProcess, { readonly kind: 'returned' }>) => void

/**
 * The part of a world that a worker or another process hosts for the thread that called `run`, as messages between
 * them.
 */
export class HostedPart {
  readonly #port: CallerPort
  readonly #post: Post
  readonly #interrupt = new AbortController()
  #running: RunningWorld | undefined

  constructor(port: CallerPort, post: Post) {
    this.#port = port
    this.#post = post
  }

  /** Handles a message of the caller on the end or the state of the world; other messages are ignored here. */
  onMessage(message: ToProcess): void {
    if (message.kind === 'abort') this.#interrupt.abort(decodeError(message.reason))
    else if (message.kind === 'diagnose') {
      this.#post({ kind: 'state', query: message.query, state: this.#running?.states()[0] ?? null })
    }
  }

  /** Sends the last message of a part that fails. */
  failed(error: unknown): void {
    this.#post({ kind: 'failed', error: encoded(error) })
  }

  /**
   * Runs the ranks, from the caller's start to the last message.
   *
   * @param started resolves when all processes have loaded the program
   * @param returned posts the results; when it throws, this part fails
   */
  async run<T, A>(
    started: Promise<void>,
    world: WorldOptions<A>,
    host: (world: WorldOptions<A>) => Promise<T[]>,
    returned: (results: readonly T[], without: readonly number[]) => void,
  ): Promise<void> {
    this.#post({ kind: 'loaded' })
    await started
    // The session keeps this event loop alive from here; the port must not, so that an empty loop is noticed.
    this.#port.unref()
    const options: WorldOptions<A> = {
      ...world,
      onUnfinished: warnOfUnfinished,
      signal: this.#interrupt.signal,
      onFailed: (error, afterSurvived) =>
        this.#post({ kind: 'failing', error: encoded(error), afterSurvived }),
      onStart: (running) => {
        this.#running = running
      },
    }
    try {
      const results = await withMatchingTraces(
        world.matching,
        () => this.#running,
        () => hostUntilEmpty(options, host),
      )
      await flushedOutput()
      returned(results, this.#running!.without)
    } catch (error) {
      await flushedOutput()
      this.failed(error)
    }
  }
}

function encoded(error: unknown): Uint8Array {
  return encodeError(error, maxErrorBytes)
}

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
  // The caller alone must not keep this event loop alive now.
  port.unref()
  try {
    return await loadUnlessEmpty<unknown, unknown>(program, choice)
  } finally {
    port.ref()
  }
}

/** Resolves when the caller has all output of this thread or process. */
async function flushedOutput(): Promise<void> {
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
