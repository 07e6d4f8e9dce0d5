import { RankweaveError } from '../../errors.js'
import type { Decision, FabricFactory, FabricSession } from '../fabric.js'
import { RemoteAuthority } from '../remote-authority.js'
import { resolveThreads, type ThreadsConnection, type ThreadsOptions } from './threads-connect.js'
import { ThreadsProcess } from './threads-process.js'

/**
 * Returns a fabric of worker threads as processes, connected by rings in shared memory. `run` starts the workers, and
 * each of them opens a separate session. Hence the program has to be a module that every worker can load.
 *
 * @throws ERR_WORLD for numbers that are out of range or do not agree
 */
export function threads(options: ThreadsOptions = {}): ThreadsFactory {
  const resolved = resolveThreads(options)
  const { ranksPerProcess } = options
  return {
    kind: 'threads',
    processes: resolved.processes,
    needsModule: true,
    places: 'threads',
    ...(ranksPerProcess === undefined ? {} : { ranksPerProcess }),
    options: resolved,
    workers: {
      ...(options.resourceLimits === undefined ? {} : { resourceLimits: options.resourceLimits }),
      ...(options.workerUrl === undefined ? {} : { workerUrl: options.workerUrl }),
    },
    open: () =>
      Promise.reject(
        new RankweaveError(
          'ERR_FABRIC',
          'threads: a session lives in the worker of its process; `run` starts the workers, given the URL of a program',
        ),
      ),
  }
}

export interface ThreadsFactory extends FabricFactory {
  readonly kind: 'threads'
  /** @internal */
  readonly options: ReturnType<typeof resolveThreads>
  /** @internal */
  readonly workers: Pick<ThreadsOptions, 'resourceLimits' | 'workerUrl'>
}

/**
 * Opens the session of the one process that a connection is for.
 *
 * @param contribute takes contributions to the thread that orders losses and decisions; none: there is no authority
 */
export function openThreads(connection: ThreadsConnection, contribute?: Contribute): ThreadsSession {
  return new ThreadsSession(connection, contribute)
}

type Contribute = (key: string, members: readonly number[], contribution: Uint8Array) => void

export class ThreadsSession implements FabricSession {
  readonly kind = 'threads'
  readonly processes: number
  readonly nodes: readonly string[]
  readonly hosted: readonly ThreadsProcess[]
  readonly #process: ThreadsProcess
  readonly #authority: RemoteAuthority | undefined

  /** Users do not call this: sessions come from `openThreads`. */
  constructor(connection: ThreadsConnection, contribute?: Contribute) {
    this.#authority = contribute === undefined ? undefined : new RemoteAuthority(contribute)
    this.#process = new ThreadsProcess(connection, this.#authority)
    this.processes = connection.nodes.length
    this.nodes = connection.nodes
    this.hosted = [this.#process]
  }

  quiet(): boolean {
    return this.#process.quiet()
  }

  /** Notes that a process is lost: a task of the fabric's own reports it to the sink. */
  lose(peer: number, reason: string): void {
    this.#process.lose(peer, reason)
  }

  /** Takes a decision of the authority. */
  decided(key: string, decision: Decision): void {
    this.#authority?.decided(key, decision)
  }

  close(): Promise<void> {
    this.#authority?.fail(new RankweaveError('ERR_FABRIC', 'the session was closed before the decision'))
    return this.#process.close()
  }
}
