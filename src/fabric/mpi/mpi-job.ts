import { writeSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { inspect } from 'node:util'
import { allowedProcessors, processorsIn } from '../../base/allowed-processors.js'
import { addToList } from '../../base/maps.js'
import { RankweaveError } from '../../errors.js'
import { keepJobOnExit, letLauncherForward, type MpiLauncher, requireLauncher } from './mpi-launcher.js'
import { loadMpi, type MpiLibrary } from './mpi-library.js'
import { type MpiLoans, openLoans } from './mpi-loans.js'
import { MpiMemory } from './mpi-memory.js'
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

/**
 * The most bytes of a text. It exceeds any library's MPI_MAX_PROCESSOR_NAME, and the list of cores of all but the
 * strangest bindings.
 */
const maxTextBytes = 508

/** The nodes and cores on which the processes of a job run. */
interface Placement {
  /** The node label of every process: processes that can share memory have the same one. */
  readonly nodes: readonly string[]
  /** The number of processes per core of this node. */
  readonly processesPerCore: number
  /** Whether some node has more processes than cores: the same on every process. */
  readonly isOversubscribed: boolean
}

/** A process of a job, and the library that it called to initialize MPI. */
interface JobProcess {
  readonly library: MpiLibrary
  readonly process: number
  readonly processes: number
}

/** Finds where the processes of a job run. All of them call it. */
function placement(job: JobProcess): Placement {
  const leaders = leadersOf(job)
  const nodes = labelsOf(leaders, allTexts(job, processorName(job)))
  const perCore = processesPerCoreByNode(
    leaders,
    allTexts(job, `${availableParallelism()} ${allowedProcessors()}`),
  )
  return {
    nodes,
    processesPerCore: perCore.get(leaders[job.process])!,
    isOversubscribed: [...perCore.values()].some((processes) => processes > 1),
  }
}

/**
 * Returns the processes per core on every node, by its leader.
 *
 * @param leaders of every process
 * @param texts of every process: the cores of its node, and where it may run as Linux reports it: `8 0-3,8`
 */
export function processesPerCoreByNode(
  leaders: ArrayLike<number>,
  texts: readonly string[],
): ReadonlyMap<number, number> {
  const coresOf = new Map<number, string[]>()
  const availableOf = new Map<number, number>()
  texts.forEach((text, process) => {
    const leader = leaders[process]
    const [available, cores = ''] = text.split(' ')
    addToList(coresOf, leader, cores)
    // A text that is too long counts as empty: another process of the node has the number.
    availableOf.set(leader, Math.max(availableOf.get(leader) ?? 1, Number(available)))
  })
  return new Map(
    Array.from(coresOf, ([leader, cores]) => [
      leader,
      countProcessesPerCore(cores, availableOf.get(leader)!),
    ]),
  )
}

/**
 * Returns the processes per core on a node.
 *
 * @param cores where each of its processes may run, as Linux reports it: "0-3,8"; empty if it is unknown
 * @param available cores of the node, used if some are unknown
 */
export function countProcessesPerCore(cores: readonly string[], available: number): number {
  if (cores.includes('')) return cores.length / available
  return cores.length / new Set(cores.flatMap(processorsIn)).size
}

/** Returns, for every process, the first process that it shares memory with. */
function leadersOf({ library, process, processes }: JobProcess): Int32Array {
  const { abi, calls, addressOf } = library
  const memory = new MpiMemory(64, addressOf)
  const { address, words } = memory
  calls.commSplitType(abi.commWorld, abi.commTypeShared, process, abi.infoNull, address)
  const node = memory.number(0, abi.handleBytes)
  calls.commSize(node, address + 16)
  const onNode = new MpiMemory(4 * words[4], addressOf)
  words[8] = process
  calls.allgather(address + 32, 1, abi.int, onNode.address, 1, abi.int, node)
  calls.commFree(address)
  const all = new MpiMemory(4 * processes, addressOf)
  calls.allgather(onNode.address, 1, abi.int, all.address, 1, abi.int, abi.commWorld)
  return all.words.slice(0, processes)
}

function processorName({ library }: JobProcess): string {
  const memory = new MpiMemory(16 + maxTextBytes, library.addressOf)
  library.calls.getProcessorName(memory.address + 16, memory.address)
  return textAt(memory.bytes, 16)
}

/** Gathers a short text of every process; one that is too long counts as empty. */
function allTexts({ library, processes }: JobProcess, mine: string): string[] {
  const { abi, calls, addressOf } = library
  const recordBytes = maxTextBytes + 4
  const memory = new MpiMemory((processes + 1) * recordBytes, addressOf)
  const { address, bytes } = memory
  const text = Buffer.from(mine, 'latin1')
  if (text.length <= maxTextBytes) bytes.set(text, processes * recordBytes)
  const from = address + processes * recordBytes
  calls.allgather(from, recordBytes, abi.byte, address, recordBytes, abi.byte, abi.commWorld)
  return Array.from({ length: processes }, (_, p) => textAt(bytes, p * recordBytes))
}

function textAt(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.subarray(at, bytes.indexOf(0, at))).toString('latin1')
}

/**
 * Returns the name of the leader's processor, numbered if it is not unique: containers on one host may share a name but
 * no memory.
 */
function labelsOf(leaders: Int32Array, names: readonly string[]): string[] {
  const taken = new Map<string, number>()
  const labels = new Map<number, string>()
  for (const leader of leaders) {
    if (labels.has(leader)) continue
    const name = names[leader]
    const count = (taken.get(name) ?? 0) + 1
    taken.set(name, count)
    labels.set(leader, count === 1 ? name : `${name}#${count}`)
  }
  return Array.from(leaders, (leader) => labels.get(leader)!)
}
