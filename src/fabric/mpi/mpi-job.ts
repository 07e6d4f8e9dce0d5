import { writeSync } from 'node:fs'
import { inspect } from 'node:util'
import { RankweaveError } from '../../errors.js'
import { keepJobOnExit, letLauncherForward } from './mpi-early-exit.js'
import { type MpiLauncher, requireLauncher } from './mpi-launcher.js'
import { loadMpi, type MpiLibrary } from './mpi-library.js'
import { type MpiLoans, openLoans } from './mpi-loans.js'
import { MpiMemory } from './mpi-memory.js'
import { allTexts, placement } from './mpi-placement.js'
import { type MpiSharedMemory, openSharedMemory } from './mpi-shared-memory.js'

/** The number of turns of the event loop before a timer tests an operation of the whole job instead. */
const eagerTurns = 200

/**
 * The membership of this process in the job that the launcher started: MPI can be initialized once in a process's life,
 * and ends with it. Sessions open and close in between.
 */
export class MpiJob {
  readonly launcher: MpiLauncher
  readonly library: MpiLibrary
  readonly process: number
  readonly processes: number
  /** The node label of every process: processes that can share memory have the same one. */
  readonly nodes: readonly string[]
  readonly threadLevel: 'single' | 'funneled' | 'serialized' | 'multiple'
  /** The largest tag of a message. */
  readonly maxTag: number
  /** The number of processes per core of this node. */
  readonly processesPerCore: number
  /** Whether some node has more processes than cores. */
  readonly isOversubscribed: boolean
  /** The memory that the processes of this node share, if they do. */
  readonly sharedMemory: MpiSharedMemory | undefined
  /** The loans between the processes of this node, if they can lend memory. */
  readonly loans: MpiLoans | undefined
  /** The number of sessions that this process has not freed. */
  openSessions = 0
  #ended = false
  #jointExit = false
  #uncaught: { readonly error: unknown } | undefined

  constructor(launcher: MpiLauncher, library: MpiLibrary) {
    this.launcher = launcher
    this.library = library
    const { abi, calls, addressOf } = library
    const memory = new MpiMemory(64, addressOf)
    const { address } = memory
    keepJobOnExit()
    calls.initThread(0, 0, abi.threadFunneled, address)
    this.threadLevel = levelOf(memory.words[0], abi.threadFunneled, abi.threadMultiple)
    process.once('exit', this.#onExit)
    process.on('uncaughtExceptionMonitor', this.#onUncaught)
    calls.commSize(abi.commWorld, address)
    this.processes = memory.words[0]
    calls.commRank(abi.commWorld, address)
    this.process = memory.words[0]
    this.#checkLauncherMatches()
    calls.commGetAttr(abi.commWorld, abi.tagUb, address, address + 8)
    // The attribute is the address of an int.
    this.maxTag = memory.words[2] === 0 ? 32_767 : library.intAt(memory.number(0, 8))
    const { nodes, processesPerCore, isOversubscribed } = placement(this)
    this.nodes = nodes
    this.processesPerCore = processesPerCore
    this.isOversubscribed = isOversubscribed
    const { process: me } = this
    const sharing = { library, process: me, nodes, texts: (mine: string) => allTexts(this, mine) }
    this.sharedMemory = openSharedMemory(sharing)
    this.loans = openLoans(sharing)
  }

  /** Aborts the whole job at once, whatever its other processes are doing. Does not return. */
  abort(exitCode: number): never {
    this.#ended = true
    this.#abort(exitCode)
    process.exit(exitCode)
  }

  /**
   * Notes that the other processes know of this process's exit, and exit too: a nonzero exit code is then no reason to
   * abort the job.
   */
  expectJointExit(): void {
    this.#jointExit = true
  }

  get exitsJointly(): boolean {
    return this.#jointExit
  }

  /** Waits for the request at an address without blocking the event loop. */
  async completed(request: number, memory: MpiMemory, flagAt: number): Promise<void> {
    const { calls, abi } = this.library
    for (let turn = 0; ; turn++) {
      calls.test(request, memory.address + flagAt, abi.statusIgnore)
      if (memory.words[flagAt >> 2] !== 0) return
      await new Promise((resolve) => {
        if (turn < eagerTurns) setImmediate(resolve)
        else setTimeout(resolve, 1)
      })
    }
  }

  /** Aborts the job if a process exits while the others still need it: they could not continue. */
  readonly #onExit = (exitCode: number): void => {
    if (this.#ended) return
    this.#ended = true
    if (this.openSessions === 0 && (exitCode === 0 || this.#jointExit)) {
      this.library.endable(() => this.library.calls.finalize())
      return
    }
    // Node would print such an error after this handler, which does not return.
    if (exitCode !== 0 && this.#uncaught !== undefined) writeSync(2, `${inspect(this.#uncaught.error)}\n`)
    this.#abort(exitCode)
  }

  readonly #onUncaught = (error: unknown): void => {
    this.#uncaught = { error }
  }

  #abort(exitCode: number): void {
    // The text may be the reason of the exit.
    letLauncherForward()
    const { calls, abi, endable } = this.library
    endable(() => calls.abort(abi.commWorld, exitCode === 0 ? 1 : exitCode))
  }

  #checkLauncherMatches(): void {
    const { processes, name } = this.launcher
    if (this.processes === processes && this.process < processes) return
    const { path, version } = this.library
    // Every process of the job finds the same.
    this.#jointExit = true
    throw new RankweaveError(
      'ERR_MPI_LIBRARY',
      `${name} started ${processes} processes, but MPI_COMM_WORLD of '${path}' (${version}) has ${this.processes}: the ` +
        'library is not of the MPI that the launcher belongs to. Name the right one with --mpi-lib PATH or ' +
        'RANKWEAVE_MPI_LIB; with srun, choose its plug-in (srun --mpi=list)',
      { details: { library: path, processes: this.processes, expected: processes } },
    )
  }
}

let joined: { readonly names: string; readonly job: Promise<MpiJob> } | undefined

/**
 * Loads and initializes MPI, once.
 *
 * @param library file of the MPI library; default: RANKWEAVE_MPI_LIB, else the one that belongs to the
 *   launcher
 * @throws ERR_MPI_LAUNCHER, ERR_MPI_KOFFI, ERR_MPI_LIBRARY
 */
export function joinMpiJob(library = process.env['RANKWEAVE_MPI_LIB']): Promise<MpiJob> {
  const named = library === undefined || library === '' ? undefined : library
  if (joined !== undefined) {
    if (named === undefined || named === joined.names) return joined.job
    return Promise.reject(
      new RankweaveError(
        'ERR_MPI_LIBRARY',
        `this process uses the MPI library of '${joined.names}' already: expected the same, got '${named}'`,
      ),
    )
  }
  const job = join(named)
  joined = { names: named ?? 'the launcher', job }
  return job
}

/** Returns the job that this process has joined, if it has. */
export async function joinedMpiJob(): Promise<MpiJob | undefined> {
  return joined?.job.catch(() => undefined)
}

async function join(named: string | undefined): Promise<MpiJob> {
  const launcher = requireLauncher()
  const library = await loadMpi(named === undefined ? launcher.libraries : [named])
  // Signals that arrived while it was loaded are handled first.
  await new Promise((resolve) => setImmediate(resolve))
  return library.endable(() => new MpiJob(launcher, library))
}

function levelOf(provided: number, funneled: number, multiple: number): MpiJob['threadLevel'] {
  if (provided >= multiple) return 'multiple'
  if (provided > funneled) return 'serialized'
  return provided === funneled ? 'funneled' : 'single'
}
