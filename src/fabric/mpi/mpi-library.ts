import { RankweaveError, reasonText } from '../../errors.js'
import { importKoffi, type Koffi } from '../koffi.js'
import { abiOf, type MpiAbi } from './mpi-abi.js'
import {
  type AddressOf,
  type MappedMemory,
  MpiMemory,
  mappedMemory,
  type ReadMemory,
  readMemoryOf,
} from './mpi-memory.js'
import { type Endable, endableCalls } from './mpi-signals.js'

type Call = (...args: number[]) => void

/**
 * The functions of MPI that we call. Every argument is a number: a value, a handle or an address. Results are not read:
 * MPI ends the job when a call fails, and converting a result costs some of what a call does.
 */
export interface MpiCalls {
  readonly initThread: Call
  readonly finalize: Call
  readonly abort: Call
  readonly commSize: Call
  readonly commRank: Call
  readonly commIdup: Call
  readonly commFree: Call
  readonly commSplitType: Call
  readonly commGetAttr: Call
  readonly getProcessorName: Call
  readonly isend: Call
  readonly irecv: Call
  readonly recvInit: Call
  readonly start: Call
  readonly test: Call
  readonly testsome: Call
  readonly improbe: Call
  readonly mrecv: Call
  readonly getCount: Call
  readonly cancel: Call
  readonly wait: Call
  readonly requestFree: Call
  readonly allgather: Call
  readonly iallgather: Call
  readonly igather: Call
  readonly igatherv: Call
  readonly ireduceScatterBlock: Call
}

/** An MPI library in this process, not yet initialized. */
export interface MpiLibrary {
  /** The path or name by which it was loaded. */
  readonly path: string
  /** The first line of MPI_Get_library_version. */
  readonly version: string
  readonly abi: MpiAbi
  readonly calls: MpiCalls
  readonly addressOf: AddressOf
  readonly memory: MappedMemory
  /** The call that reads other processes' memory; absent if the system has none. */
  readonly readMemory?: ReadMemory
  /** The wrapper for calls that block. */
  readonly endable: Endable
  /** Yields the core to another process. */
  readonly yieldTurn: () => void
  /** Returns whether MPI itself yields after an unsuccessful poll. Known once it is initialized. */
  yieldsTurn(): boolean
  /** Returns the int at an address outside our memory. */
  intAt(address: number): number
  /** Returns another function of MPI's, for tests. `handle` among the types stands for the width of a handle. */
  func(name: string, ...types: readonly MpiType[]): Call
}

export type MpiType = 'int' | 'address' | 'handle'

/**
 * The settings that disable, unless the user has set them, habits of MPI libraries that Node's threads do not survive.
 * The libraries overwrite the code of `brk`, `mmap` and `munmap` while other threads run it (to track which memory is
 * registered with a network). They also catch SIGSEGV and then hang.
 */
const safeDefaults: Readonly<Record<string, string>> = {
  UCX_MEM_EVENTS: 'n',
  UCX_ERROR_SIGNALS: '',
  OMPI_MCA_memory: '^patcher',
}

/**
 * Loads koffi and the MPI library.
 *
 * @param names what to try, in order
 * @throws ERR_MPI_KOFFI, ERR_MPI_LIBRARY
 */
export async function loadMpi(names: readonly string[]): Promise<MpiLibrary> {
  const koffi = await loadKoffi()
  const failures: string[] = []
  for (const path of names) {
    let library: ReturnType<Koffi['load']>
    try {
      // The symbols are global: Open MPI loads its components, which resolve its symbols.
      library = koffi.load(path, { global: true })
    } catch (cause) {
      failures.push(`${path}: ${reasonText(cause)}`)
      continue
    }
    return describe(koffi, path, library)
  }
  const message = `fabric mpi: no MPI library can be loaded; name one with --mpi-lib PATH or RANKWEAVE_MPI_LIB. Tried\n  ${failures.join('\n  ')}`
  throw new RankweaveError('ERR_MPI_LIBRARY', message)
}

/** @internal Loads koffi, with an environment in which loading an MPI library is safe. @throws ERR_MPI_KOFFI */
export async function loadKoffi(): Promise<Koffi> {
  for (const [name, value] of Object.entries(safeDefaults)) process.env[name] ??= value
  return importKoffi('fabric mpi')
}

/**
 * @internal Returns version and binary interface of a loaded library, which need not be initialised.
 *
 * @throws ERR_MPI_LIBRARY for a library that is not an MPI library, or has an unknown binary interface
 */
export function identifyMpi(koffi: Koffi, path: string, library: ReturnType<Koffi['load']>) {
  const addressOf: AddressOf = (view) => Number(koffi.address(view))
  const symbol = (name: string): number | undefined => {
    try {
      return Number(koffi.address(library.symbol(name)))
    } catch {
      return undefined
    }
  }
  const bind = (name: string, types: readonly string[]): Call => {
    try {
      return library.func(name, 'void', [...types]) as Call
    } catch (cause) {
      const message = `'${path}' is not an MPI library: it has no ${name}`
      throw new RankweaveError('ERR_MPI_LIBRARY', message, { cause })
    }
  }
  const version = versionOf(bind('MPI_Get_library_version', ['int64_t', 'int64_t']), addressOf)
  return { version, abi: abiOf(path, version, symbol), addressOf, symbol, bind }
}

function describe(koffi: Koffi, path: string, library: ReturnType<Koffi['load']>): MpiLibrary {
  const { version, abi, addressOf, symbol, bind } = identifyMpi(koffi, path, library)
  const widths = { int: 'int', address: 'int64_t', handle: abi.handle } as const
  const func: MpiLibrary['func'] = (name, ...types) =>
    bind(
      name,
      types.map((type) => widths[type]),
    )
  const yieldTurn = koffi.load(null).func('sched_yield', 'int', []) as () => void
  const intAt = (address: number) => koffi.decode.int(BigInt(address))
  // Open MPI's flag of one byte is set by mpi_yield_when_idle, or if its launcher has found more processes than cores.
  const yielding = symbol('opal_progress_yield_when_idle')
  const yieldsTurn = () => yielding !== undefined && (intAt(yielding) & 0xff) !== 0
  const memory = mappedMemory(koffi)
  const readMemory = readMemoryOf(koffi)
  const endable = endableCalls(koffi, addressOf)
  return {
    ...{ path, version, abi, calls: callsOf(func), addressOf, memory, intAt, func },
    ...{ endable, yieldTurn, yieldsTurn },
    ...(readMemory === undefined ? {} : { readMemory }),
  }
}

function callsOf(func: MpiLibrary['func']): MpiCalls {
  const [i, a, h] = ['int', 'address', 'handle'] as const
  return {
    initThread: func('MPI_Init_thread', a, a, i, a),
    finalize: func('MPI_Finalize'),
    abort: func('MPI_Abort', h, i),
    commSize: func('MPI_Comm_size', h, a),
    commRank: func('MPI_Comm_rank', h, a),
    commIdup: func('MPI_Comm_idup', h, a, a),
    commFree: func('MPI_Comm_free', a),
    commSplitType: func('MPI_Comm_split_type', h, i, i, h, a),
    commGetAttr: func('MPI_Comm_get_attr', h, i, a, a),
    getProcessorName: func('MPI_Get_processor_name', a, a),
    isend: func('MPI_Isend', a, i, h, i, i, h, a),
    irecv: func('MPI_Irecv', a, i, h, i, i, h, a),
    recvInit: func('MPI_Recv_init', a, i, h, i, i, h, a),
    start: func('MPI_Start', a),
    test: func('MPI_Test', a, a, a),
    testsome: func('MPI_Testsome', i, a, a, a, a),
    improbe: func('MPI_Improbe', i, i, h, a, a, a),
    mrecv: func('MPI_Mrecv', a, i, h, a, a),
    getCount: func('MPI_Get_count', a, h, a),
    cancel: func('MPI_Cancel', a),
    wait: func('MPI_Wait', a, a),
    requestFree: func('MPI_Request_free', a),
    allgather: func('MPI_Allgather', a, i, h, a, i, h, h),
    iallgather: func('MPI_Iallgather', a, i, h, a, i, h, h, a),
    igather: func('MPI_Igather', a, i, h, a, i, h, i, h, a),
    igatherv: func('MPI_Igatherv', a, i, h, a, a, a, h, i, h, a),
    ireduceScatterBlock: func('MPI_Ireduce_scatter_block', a, a, i, h, h, h, a),
  }
}

/** The bytes of a buffer for MPI's version text, whose longest is shorter. */
const versionBytes = 16_384

function versionOf(getLibraryVersion: Call, addressOf: AddressOf): string {
  const memory = new MpiMemory(versionBytes, addressOf)
  getLibraryVersion(memory.address + 64, memory.address)
  const text = Buffer.from(memory.bytes.subarray(64, 64 + memory.words[0])).toString('latin1')
  return text
    .split(/[\n\0]/)[0]
    .replace(/\s+/g, ' ')
    .trim()
}
