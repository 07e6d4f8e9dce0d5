import { nodeProcess } from '../base/node-process.js'
import { importKoffi } from './koffi.js'

/** Whether this thread has made the request, which holds for the whole process. */
let isAsked = false

/**
 * Asks glibc to retain the memory of freed arrays of up to 32 MiB. By default glibc divides the memory of a thread into
 * heaps of 64 MiB, which hold three arrays of 16 MiB. It removes a further heap once it is empty. Each message then
 * costs a page fault per page. From then on it removes a heap only if the heap before is free too. Without koffi, with
 * another C library, or if the environment sets such a limit, nothing changes. The setting of a thread holds for the
 * process, also after its worlds. Some 64 MiB more are retained for each thread, and as much by a heap after one with
 * other memory in use.
 */
export function retainFreedMemory(): void {
  if (isAsked) return
  isAsked = true
  if (isMallocSet(nodeProcess?.env ?? {})) return
  askGlibc().catch(() => {
    // The call failed: each long array costs its page faults.
  })
}

/**
 * Returns whether the environment sets a limit of glibc that is set here: MALLOC_TRIM_THRESHOLD_, or GLIBC_TUNABLES.
 */
export function isMallocSet(env: Readonly<Record<string, string | undefined>>): boolean {
  const limits = ['trim_threshold', 'top_pad', 'mmap_threshold']
  const tunables = (env['GLIBC_TUNABLES'] ?? '').split(':')
  return limits.some(
    (limit) =>
      env[`MALLOC_${limit.toUpperCase()}_`] !== undefined ||
      tunables.some((tunable) => tunable.startsWith(`glibc.malloc.${limit}=`)),
  )
}

async function askGlibc(): Promise<void> {
  const koffi = await importKoffi('retained memory')
  const mallopt = koffi.load(null).func('int mallopt(int, int)')
  mallopt(malloptWord.topPad, leastFreeBefore)
  mallopt(malloptWord.trimThreshold, heapBytes)
  mallopt(malloptWord.mmapThreshold, heapBytes / 2)
}

/** The numbers of parameters in glibc's malloc.h. */
const malloptWord = { trimThreshold: -1, topPad: -2, mmapThreshold: -3 } as const
/** The bytes of a heap of a thread; glibc accepts at most half of it as threshold for mmap. */
const heapBytes = 64 * 2 ** 20
/**
 * The free bytes at the end of a heap from which on glibc removes an empty heap after it. The header counts, so a whole
 * heap is never free: with `heapBytes`, heaps would stay for good. A program that holds one array uses more than the
 * rest.
 */
const leastFreeBefore = heapBytes - 2 ** 22
