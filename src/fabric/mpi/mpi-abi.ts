import { RankweaveError } from '../../errors.js'

/**
 * The width of handles and the values of predefined ones in a binary interface of MPI. Addresses and handles are plain
 * numbers here: an address of user space has 47 bits, and numbers add no cost to a foreign call.
 */
export interface MpiAbi {
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
export type SymbolAddress = (name: string) => number | undefined

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
