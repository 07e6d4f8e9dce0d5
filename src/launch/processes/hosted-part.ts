import { decodeError, encodeError } from '../../messages/process/error-record.js'
import { hostUntilEmpty } from '../../world/empty-loop.js'
import type { RunningWorld, WorldOptions } from '../../world/world.js'
import { type CallerPort, flushedOutput } from './hosted-program.js'
import { type FromProcess, maxErrorBytes, type ToProcess } from './process-protocol.js'
import { withMatchingTraces } from './with-matching-traces.js'

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
