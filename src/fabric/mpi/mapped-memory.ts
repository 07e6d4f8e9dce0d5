type Koffi = typeof import('koffi')

/** Files in memory, which processes of one node can share. Linux only; elsewhere nothing can be created. */
export interface MappedMemory {
  /** Zeroed memory, and the descriptor of its file. Undefined where there is none. */
  create(sizeBytes: number): { readonly bytes: Uint8Array; readonly file: number } | undefined
  /** The memory of an open file, read-only. */
  map(file: number, sizeBytes: number): Uint8Array | undefined
}

const protection = { read: 1, readWrite: 3 } as const
const mapShared = 1
const closeOnExec = 1

export function mappedMemory(koffi: Koffi): MappedMemory {
  const calls = process.platform === 'linux' ? linuxCalls(koffi) : undefined
  const map = (file: number, sizeBytes: number, access: number): Uint8Array | undefined => {
    const address = calls!.mmap(0, sizeBytes, access, mapShared, file, 0)
    return address === -1 ? undefined : new Uint8Array(koffi.view(BigInt(address), sizeBytes))
  }
  return {
    create(sizeBytes) {
      const file = calls?.memfdCreate('rankweave', closeOnExec) ?? -1
      if (file < 0 || calls!.ftruncate(file, sizeBytes) !== 0) return undefined
      const bytes = map(file, sizeBytes, protection.readWrite)
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
    // A libc without memfd_create.
    return undefined
  }
}
