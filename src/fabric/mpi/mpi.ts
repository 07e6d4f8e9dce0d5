import { requireEntries } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import type { FabricFactory, FabricSession } from '../fabric.js'
import { abortJobOnEarlyExit } from './mpi-early-exit.js'
import { joinMpiJob, type MpiJob } from './mpi-job.js'
import { requireLauncher, settleColors } from './mpi-launcher.js'
import { MpiMemory } from './mpi-memory.js'
import { MpiProcess } from './mpi-process.js'

export interface MpiOptions {
  /** The file of the MPI library. Default: RANKWEAVE_MPI_LIB, else the one that belongs to the launcher. */
  readonly library?: string
  /** The ranks of every process, for `run`, the same on all processes. Default: ranks are distributed evenly. */
  readonly ranksPerProcess?: readonly number[]
  /** The node label of every process. Default: processes that can share memory are on one node. */
  readonly nodes?: readonly string[]
}

const mpiOptions: OptionTable<MpiOptions> = {
  ...uncheckedOptions('library', 'ranksPerProcess', 'nodes'),
}

/**
 * Returns a fabric of the processes that an MPI launcher started, connected by MPI. All of them open sessions in the
 * same order. A process that exits while it has one open aborts the whole job, since MPI does not survive the loss of a
 * process.
 *
 * @throws ERR_MPI_LAUNCHER if no launcher started this process
 * @throws ERR_WORLD for options that do not fit the number of processes
 */
export function mpi(options: MpiOptions = {}): MpiFactory {
  abortJobOnEarlyExit()
  checkOptions('mpi', mpiOptions, options)
  const { library, ranksPerProcess, nodes } = options
  const { processes } = requireLauncher()
  settleColors()
  requireEntries('mpi', { ranksPerProcess, nodes }, processes)
  const openAfter = (ready: Promise<unknown>) =>
    opening.enter(ready, async () => openMpi(await joinMpiJob(library), nodes))
  return {
    kind: 'mpi',
    processes,
    isJob: true,
    places: 'OS processes',
    ...(ranksPerProcess === undefined ? {} : { ranksPerProcess }),
    open: () => openAfter(Promise.resolve()),
    openAfter,
  }
}

/**
 * Opens sessions one after the other, in the order in which places were taken, which is the same on all processes. Open
 * MPI hangs when processes duplicate a communicator several times at once (4.1.4).
 */
class OpeningOrder {
  #last: Promise<unknown> = Promise.resolve()

  /** Takes the next place now; opens when all places before are done and `ready` has resolved. */
  enter<T>(ready: Promise<unknown>, open: () => Promise<T>): Promise<T> {
    const before = this.#last
    const opened = (async () => {
      await before
      await ready
      return open()
    })()
    this.#last = opened.catch(() => {})
    return opened
  }
}

const opening = new OpeningOrder()

export interface MpiFactory extends FabricFactory {
  readonly kind: 'mpi'
  open(): Promise<MpiSession>
  /**
   * Takes its place among the sessions of this process now, and opens once `ready` has resolved. @internal
   */
  openAfter(ready: Promise<unknown>): Promise<MpiSession>
}

async function openMpi(job: MpiJob, nodes: readonly string[] = job.nodes): Promise<MpiSession> {
  const { abi, calls, addressOf } = job.library
  const memory = new MpiMemory(64, addressOf)
  const { address } = memory
  job.openSessions++
  // Other sessions must make progress meanwhile: other processes may wait for them before they reach this call.
  calls.commIdup(abi.commWorld, address, address + 16)
  await job.completed(address + 16, memory, 32)
  return new MpiSession(job, memory.number(0, abi.handleBytes), nodes)
}

/** The bytes of a text in `textsOfAll`. */
const textBytes = 16

/** The part of this process in one world: messages of a separate communicator. */
export class MpiSession implements FabricSession {
  readonly kind = 'mpi'
  readonly processes: number
  readonly nodes: readonly string[]
  readonly hosted: readonly MpiProcess[]
  readonly job: MpiJob
  readonly #comm: number
  readonly #process: MpiProcess
  #closing: Promise<void> | undefined
  #retained = false

  /** Users do not call this: sessions come from `mpi().open()`. */
  constructor(job: MpiJob, comm: number, nodes: readonly string[]) {
    this.job = job
    this.processes = job.processes
    this.nodes = nodes
    this.#comm = comm
    this.#process = new MpiProcess(job, comm, nodes)
    this.hosted = [this.#process]
  }

  quiet(): boolean {
    return this.#process.quiet()
  }

  /** Resolves when all processes have closed, and all that was sent has been received. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /**
   * Gathers a text of at most {@link textBytes} ASCII characters from every process, by process. All call it. @internal
   */
  async textsOfAll(mine: string): Promise<readonly string[]> {
    if (mine.length > textBytes)
      throw new RangeError(`a text of ${mine.length} characters, longer than ${textBytes}`)
    const { abi, calls, addressOf } = this.job.library
    const control = new MpiMemory(64, addressOf)
    const all = new MpiMemory(textBytes * this.processes, addressOf)
    const { address } = control
    for (let i = 0; i < mine.length; i++) control.bytes[i] = mine.charCodeAt(i)
    calls.iallgather(address, textBytes, abi.byte, all.address, textBytes, abi.byte, this.#comm, address + 16)
    await this.job.completed(address + 16, control, 32)
    return Array.from({ length: this.processes }, (_, p) => {
      const text = Buffer.from(all.bytes.subarray(p * textBytes, (p + 1) * textBytes)).toString('latin1')
      return text.replace(/\0+$/, '')
    })
  }

  /**
   * Returns the text of process 0, of any number of ASCII characters. All processes call it, each with a text.
   * @internal
   */
  async textOfFirst(mine: string): Promise<string> {
    const pieces: string[] = []
    for (let at = 0; ; at += textBytes) {
      const [piece] = await this.textsOfAll(mine.slice(at, at + textBytes))
      pieces.push(piece)
      if (piece.length < textBytes) return pieces.join('')
    }
  }

  /** Retains the communicator after `close`, for `collect`. @internal */
  retain(): void {
    this.#retained = true
  }

  /**
   * Gathers the bytes of every process, in process order, on process 0; undefined elsewhere. All processes call it,
   * once, after a retained session has closed. @internal
   */
  async collect(mine: Uint8Array): Promise<Uint8Array[] | undefined> {
    const { library } = this.job
    const { abi, calls, addressOf } = library
    const { processes } = this
    const control = new MpiMemory(64, addressOf)
    const sizes = new MpiMemory(8 * processes, addressOf)
    const [request, flagAt] = [control.address + 16, 32]
    control.words[0] = mine.byteLength
    calls.igather(control.address, 1, abi.int, sizes.address, 1, abi.int, 0, this.#comm, request)
    await this.job.completed(request, control, flagAt)
    let total = 0
    for (let p = 0; p < processes; p++) {
      sizes.words[processes + p] = total
      total += sizes.words[p]
    }
    const here = new MpiMemory(Math.max(8, mine.byteLength), addressOf)
    here.bytes.set(mine)
    const all = new MpiMemory(Math.max(8, total), addressOf)
    const places = sizes.address + 4 * processes
    calls.igatherv(
      here.address,
      mine.byteLength,
      abi.byte,
      all.address,
      sizes.address,
      places,
      abi.byte,
      0,
      this.#comm,
      request,
    )
    await this.job.completed(request, control, flagAt)
    const parts = Array.from({ length: processes }, (_, p) => {
      const begin = sizes.words[processes + p]
      return all.bytes.subarray(begin, begin + sizes.words[p])
    })
    this.free()
    return this.job.process === 0 ? parts : undefined
  }

  async #close(): Promise<void> {
    await this.#process.drain(this.job, this.#comm)
    if (!this.#retained) this.free()
  }

  /** Frees the communicator of a session. @internal */
  free(): void {
    const { abi, calls, addressOf } = this.job.library
    const memory = new MpiMemory(64, addressOf)
    memory.setNumber(0, abi.handleBytes, this.#comm)
    calls.commFree(memory.address)
    this.job.openSessions--
  }
}
