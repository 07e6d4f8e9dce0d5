import { importKoffi } from './koffi.js'

/** Of this thread; what it asks for holds for the whole process. */
let isAsked = false

/**
 * Asks glibc to retain the memory of freed arrays of up to 32 MiB. It divides the memory of a thread into heaps of
 * 64 MiB, three arrays of 16 MiB each, and removes a further heap once it is empty: each message then costs a page
 * fault per page. Without koffi, or with another C library, nothing changes. At most 64 MiB more are retained for each
 * thread.
 */
export function retainFreedMemory(): void {
  if (isAsked) return
  isAsked = true
  askGlibc().catch(() => {
    // Each long array costs its page faults.
  })
}

async function askGlibc(): Promise<void> {
  const koffi = await importKoffi('retained memory')
  const mallopt = koffi.load(null).func('int mallopt(int, int)')
  mallopt(malloptWord.topPad, heapBytes)
  mallopt(malloptWord.trimThreshold, heapBytes)
  mallopt(malloptWord.mmapThreshold, heapBytes / 2)
}

/** malloc.h of glibc. */
const malloptWord = { trimThreshold: -1, topPad: -2, mmapThreshold: -3 } as const
/** A heap of a thread; glibc takes no larger threshold for mmap than half of it. */
const heapBytes = 64 * 2 ** 20
