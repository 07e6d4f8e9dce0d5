import { importKoffi } from './koffi.js'

/** Of this thread; what it asks for holds for the whole process. */
let isAsked = false

/**
 * Asks glibc to retain the memory of freed arrays of up to 32 MiB. It divides the memory of a thread into heaps of
 * 64 MiB, three arrays of 16 MiB each, and removes a further heap once it is empty: each message then costs a page
 * fault per page. From then on it removes one only where the heap before is free too. Without koffi, or with another C
 * library, nothing changes. What holds for a thread holds for the process, also after its worlds: some 64 MiB more are
 * retained for each thread, and as much by a heap before which other memory is in use.
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
  mallopt(malloptWord.topPad, leastFreeBefore)
  mallopt(malloptWord.trimThreshold, heapBytes)
  mallopt(malloptWord.mmapThreshold, heapBytes / 2)
}

/** malloc.h of glibc. */
const malloptWord = { trimThreshold: -1, topPad: -2, mmapThreshold: -3 } as const
/** A heap of a thread; glibc takes no larger threshold for mmap than half of it. */
const heapBytes = 64 * 2 ** 20
/**
 * glibc removes an empty heap where so much is free at the end of the one before. That is never the whole heap, whose
 * header counts: with `heapBytes`, heaps would stay for good. A program that holds one array uses more than the rest.
 */
const leastFreeBefore = heapBytes - 2 ** 22
