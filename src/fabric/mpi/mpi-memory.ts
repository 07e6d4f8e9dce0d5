import { closeSync } from 'node:fs'
import type { Koffi } from '../koffi.js'

/** Returns the address of the memory of a view. */
export type AddressOf = (view: ArrayBufferView) => number

/**
 * Memory that does not move, for MPI to read and write. Its owner must retain it for as long as MPI may access it:
 * MPI's requests are unknown to the garbage collector.
 */
export class MpiMemory {
  readonly bytes: Uint8Array
  readonly words: Int32Array
  readonly address: number

  constructor(sizeBytes: number, addressOf: AddressOf) {
    // An array over a separate buffer is never on the garbage-collected heap, where it would be moved.
    this.bytes = new Uint8Array(new ArrayBuffer((sizeBytes + 63) & ~63))
    this.words = new Int32Array(this.bytes.buffer)
    this.address = addressOf(this.bytes)
  }

  /** Returns a handle or an address of `bytes` width at a multiple of 4. */
  number(offset: number, bytes: 4 | 8): number {
    const low = this.words[offset >> 2]
    return bytes === 4 ? low : (low >>> 0) + this.words[(offset >> 2) + 1] * 2 ** 32
  }

  setNumber(offset: number, bytes: 4 | 8, value: number): void {
    this.words[offset >> 2] = value
    if (bytes === 8) this.words[(offset >> 2) + 1] = Math.floor(value / 2 ** 32)
  }
}

/**
 * The creation of files in memory, which processes of one node can share. Linux only; elsewhere nothing can be created.
 */
export interface MappedMemory {
  /** Creates zeroed memory, and the descriptor of its file; undefined if it fails. */
  create(sizeBytes: number): { readonly bytes: Uint8Array; readonly file: number } | undefined
  /** Maps the memory of an open file, read-only. */
  map(file: number, sizeBytes: number): Uint8Array | undefined
}

const protection = { read: 1, readWrite: 3 } as const
const mapShared = 1
const closeOnExec = 1

/** @internal Returns the calls of the C library for it. */
export function mappedMemory(koffi: Koffi): MappedMemory {
  const calls = process.platform === 'linux' ? linuxCalls(koffi) : undefined
  const map = (file: number, sizeBytes: number, access: number): Uint8Array | undefined => {
    const address = calls!.mmap(0, sizeBytes, access, mapShared, file, 0)
    return address === -1 ? undefined : new Uint8Array(koffi.view(BigInt(address), sizeBytes))
  }
  return {
    create(sizeBytes) {
      const file = calls?.memfdCreate('rankweave', closeOnExec) ?? -1
      if (file < 0) return undefined
      // The size of a file may be limited (ulimit -f), as may the address space.
      const isLongEnough = calls!.ftruncate(file, sizeBytes) === 0
      const bytes = isLongEnough ? map(file, sizeBytes, protection.readWrite) : undefined
      if (bytes === undefined) closeSync(file)
      return bytes === undefined ? undefined : { bytes, file }
    },
    map: (file, sizeBytes) => map(file, sizeBytes, protection.read),
  }
}

interface LinuxCalls {
  memfdCreate(name: string, flags: number): number
  ftruncate(file: number, sizeBytes: number): number
  mmap(at: number, size: number, access: number, flags: number, file: number, offset: number): number
}

function linuxCalls(koffi: Koffi): LinuxCalls | undefined {
  try {
    const libc = koffi.load(null)
    return {
      memfdCreate: libc.func('memfd_create', 'int', ['str', 'uint']) as LinuxCalls['memfdCreate'],
      ftruncate: libc.func('ftruncate', 'int', ['int', 'int64_t']) as LinuxCalls['ftruncate'],
      mmap: libc.func('mmap', 'int64_t', [
        'int64_t',
        'int64_t',
        'int',
        'int',
        'int',
        'int64_t',
      ]) as LinuxCalls['mmap'],
    }
  } catch {
    // This libc has no memfd_create.
    return undefined
  }
}

/**
 * Calls `process_vm_readv`, which copies pieces of the memory of process `pid` into pieces of this one's. A piece is
 * its address and its length in bytes, 8 bytes each; `here` and `there` are the addresses of such lists. Returns the
 * bytes copied, or -1.
 */
export type ReadMemory = (
  ...[pid, here, count, there, countThere, flags]: [number, number, number, number, number, number]
) => number

/** @internal Returns the call; undefined if the system has none. */
export function readMemoryOf(koffi: Koffi): ReadMemory | undefined {
  if (process.platform !== 'linux') return undefined
  const types = ['int', 'int64_t', 'int64_t', 'int64_t', 'int64_t', 'int64_t']
  try {
    return koffi.load(null).func('process_vm_readv', 'int64_t', types) as ReadMemory
  } catch {
    return undefined
  }
}
