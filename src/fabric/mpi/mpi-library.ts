import { constants } from 'node:os'
import { RankweaveError, reasonText } from '../../errors.js'
import { importKoffi, type Koffi } from '../koffi.js'
import {
  type AddressOf,
  type MappedMemory,
  MpiMemory,
  mappedMemory,
  type ReadMemory,
  readMemoryOf,
} from './mpi-memory.js'

type Call = (...args: number[]) => void

/**
 * The functions of MPI that we call. Every argument is a number: a value, a handle or an address. Results are not read:
 * MPI ends the job when a call fails, and converting a result costs some of what a call does.
 */
interface MpiCalls {
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

type MpiType = 'int' | 'address' | 'handle'

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
  return importKoffi('fabric mpi', 'ERR_MPI_KOFFI')
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

/** Runs a call of MPI that may wait for other processes without end, during which signals still end this process. */
type Endable = <T>(call: () => T) => T

/** The signals for which Node may have handlers, which run when the event loop turns. */
const signals = [constants.signals.SIGHUP, constants.signals.SIGINT, constants.signals.SIGTERM]

/** The bytes that hold a `struct sigaction` of any platform; it begins with the handler. */
const actionBytes = 256
const [defaultAction, ignored] = [0, 1]

/**
 * @internal Gives signals the platform's default effect while a call of MPI blocks this thread, as in a C program;
 *   those that are ignored stay ignored. No handler of Node runs during such a call, so a process that waits in
 *   `MPI_Init` for a lost one could only be killed.
 */
export function endableCalls(koffi: Koffi, addressOf: AddressOf): Endable {
  const types = ['int', 'int64_t', 'int64_t']
  const sigaction = koffi.load(null).func('sigaction', 'int', types) as (...args: number[]) => number
  return (call) => {
    const plain = new MpiMemory(actionBytes, addressOf)
    const restored = signals.flatMap((signal) => {
      const before = new MpiMemory(actionBytes, addressOf)
      sigaction(signal, 0, before.address)
      const handler = before.number(0, 8)
      if (handler === defaultAction || handler === ignored) return []
      sigaction(signal, plain.address, 0)
      return [() => sigaction(signal, before.address, 0)]
    })
    try {
      return call()
    } finally {
      for (const restore of restored) restore()
    }
  }
}

/**
 * The width of handles and the values of predefined ones in a binary interface of MPI. Addresses and handles are plain
 * numbers here: an address of user space has 47 bits, and numbers add no cost to a foreign call.
 */
interface MpiAbi {
  readonly name: 'Open MPI' | 'MPICH' | 'standard'
  /** The type of a handle in a foreign call. */
  readonly handle: 'int64_t' | 'int'
  readonly handleBytes: 8 | 4
  readonly commWorld: number
  readonly commNull: number
  readonly byte: number
  readonly int: number
  readonly double: number
  readonly sum: number
  readonly infoNull: number
  readonly requestNull: number
  readonly anySource: number
  readonly anyTag: number
  readonly procNull: number
  readonly undefined: number
  readonly statusIgnore: number
  readonly commTypeShared: number
  readonly threadFunneled: number
  readonly threadMultiple: number
  readonly tagUb: number
}

/** Returns the address of a symbol, or undefined if the library does not export it. */
type SymbolAddress = (name: string) => number | undefined

/**
 * Returns the interface of Open MPI 3 to 5: handles are pointers, predefined ones addresses of objects in the library.
 * Values are those of its mpi.h.
 */
function openMpi(addressOf: SymbolAddress): MpiAbi {
  const at = (symbol: string): number => {
    const address = addressOf(symbol)
    if (address === undefined)
      throw new RankweaveError('ERR_MPI_LIBRARY', `the library is Open MPI, but has no symbol ${symbol}`)
    return address
  }
  return {
    name: 'Open MPI',
    handle: 'int64_t',
    handleBytes: 8,
    commWorld: at('ompi_mpi_comm_world'),
    commNull: at('ompi_mpi_comm_null'),
    byte: at('ompi_mpi_byte'),
    int: at('ompi_mpi_int'),
    double: at('ompi_mpi_double'),
    sum: at('ompi_mpi_op_sum'),
    infoNull: at('ompi_mpi_info_null'),
    requestNull: at('ompi_request_null'),
    anySource: -1,
    anyTag: -1,
    procNull: -2,
    undefined: -32766,
    statusIgnore: 0,
    commTypeShared: 0,
    threadFunneled: 1,
    threadMultiple: 3,
    tagUb: 0,
  }
}

/**
 * The interface of MPICH and libraries compatible with it since 2014 (Intel MPI, MVAPICH2, Cray MPICH): handles are
 * integers.
 */
const mpich: MpiAbi = {
  name: 'MPICH',
  handle: 'int',
  handleBytes: 4,
  commWorld: 0x44000000,
  commNull: 0x04000000,
  byte: 0x4c00010d,
  int: 0x4c000405,
  double: 0x4c00080b,
  sum: 0x58000003,
  infoNull: 0x1c000000,
  requestNull: 0x2c000000,
  anySource: -2,
  anyTag: -1,
  procNull: -1,
  undefined: -32766,
  statusIgnore: 1,
  commTypeShared: 1,
  threadFunneled: 1,
  threadMultiple: 3,
  tagUb: 0x64400001,
}

/** The standard binary interface. @see MPI-5.0 §20, "Application Binary Interface" */
const standard: MpiAbi = {
  name: 'standard',
  handle: 'int64_t',
  handleBytes: 8,
  commWorld: 0x101,
  commNull: 0x100,
  byte: 0x247,
  int: 0x209,
  double: 0x214,
  sum: 0x21,
  infoNull: 0x130,
  requestNull: 0x180,
  anySource: -1,
  anyTag: -2,
  procNull: -3,
  undefined: -32766,
  statusIgnore: 0,
  commTypeShared: 221,
  threadFunneled: 1024,
  threadMultiple: 4096,
  tagUb: 501,
}

/**
 * Returns the binary interface of a loaded library. The name of its file identifies the standard one: a library may
 * export its functions in addition to its own.
 *
 * @throws ERR_MPI_LIBRARY for a library that has none of them
 */
export function abiOf(path: string, version: string, addressOf: SymbolAddress): MpiAbi {
  if (/mpi_abi/.test(path)) return standard
  if (addressOf('ompi_mpi_comm_world') !== undefined) return openMpi(addressOf)
  if (/MPICH|MVAPICH|Intel\(R\) MPI|CRAY MPICH/i.test(version)) return mpich
  throw new RankweaveError(
    'ERR_MPI_LIBRARY',
    `'${path}' reports '${version}': expected Open MPI, MPICH or one compatible with it, or a library of the ` +
      'standard binary interface (libmpi_abi)',
  )
}
