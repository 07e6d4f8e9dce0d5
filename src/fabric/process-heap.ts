import { nodeFlags, nodeProcess } from '../base/node-process.js'
import type { FreshHeap } from './fabric.js'
import { importKoffi } from './koffi.js'

interface HeapModule {
  setFlagsFromString(flag: string): void
  getHeapStatistics(): { readonly external_memory: number; readonly used_heap_size: number }
}

interface ContextModule {
  runInNewContext(code: string): unknown
}

/**
 * Returns the controls of V8's heap, if Node has them.
 *
 * @param roomBytes how much more than now it may hold, after room was made, before V8 marks it
 */
export function v8Heap(roomBytes = 64 * 2 ** 20): FreshHeap | undefined {
  const heap = nodeProcess?.getBuiltinModule?.('node:v8') as HeapModule | undefined
  const contexts = nodeProcess?.getBuiltinModule?.('node:vm') as ContextModule | undefined
  if (heap === undefined || contexts === undefined) return undefined
  const collect = lookUp(heap, contexts)
  if (collect === undefined) return undefined
  const minor = () => collect({ type: 'minor' })
  const knowsFlags = hasKnownFlags()
  const collectYoung = knowsFlags ? onThisThread(heap, minor) : minor
  let hasRetained = false
  /** An object that is collected when V8 marks. */
  let mark: WeakRef<object> | undefined
  return {
    collectYoung() {
      if (!hasRetained) retainReleasedMemory()
      hasRetained = true
      collectYoung()
    },
    externalBytes: () => heap.getHeapStatistics().external_memory,
    makeRoom() {
      if (!knowsFlags || mark?.deref() !== undefined) return
      raiseLimit(heap, collect, roomBytes)
      mark = new WeakRef({})
    },
  }
}

/**
 * Raises the limit from which on V8 marks. V8 sets it at the end of each marking: of a small heap, some 16 MiB above
 * what it holds, so two long arrays reach it. With this flag, that end sets a higher one, which holds until V8 marks
 * again. A large heap has that room without it, and is not collected for nothing.
 */
function raiseLimit(heap: HeapModule, collect: () => void, roomBytes: number): void {
  const { used_heap_size: heapBytes, external_memory: externalBytes } = heap.getHeapStatistics()
  if (heapBytes > roomBytes || externalBytes > 2 * roomBytes) return
  heap.setFlagsFromString(`--heap-growing-percent=${Math.ceil((100 * roomBytes) / heapBytes)}`)
  try {
    collect()
  } finally {
    heap.setFlagsFromString('--heap-growing-percent=0')
  }
}

/**
 * Frees a large block, so that glibc retains released memory: twice as much as the block from then on, at most 64 MiB,
 * of each thread. Before, the C library returns what is released to the system, and new arrays cost a page fault per
 * page. No page of this block is ever used.
 */
function retainReleasedMemory(): void {
  try {
    new ArrayBuffer(largestRetained)
  } catch {
    // Address space is limited; without the block, each array costs its page faults.
  }
}

/** The size of the largest block that glibc accepts for its limit. */
const largestRetained = 2 ** 25 - 2 ** 13

/**
 * Returns a collection that the thread that needs the memory runs alone. Threads of V8 would share the work, and
 * release the memory later; but ranks hold the cores, so the collection would wait for them.
 */
function onThisThread(heap: HeapModule, collect: () => void): () => void {
  return () => {
    for (const flag of collectorThreads) heap.setFlagsFromString(`--no-${flag}`)
    try {
      collect()
    } finally {
      for (const flag of collectorThreads) heap.setFlagsFromString(`--${flag}`)
    }
  }
}

const collectorThreads = ['parallel-scavenge', 'concurrent-array-buffer-sweeping'] as const

/** Returns whether V8 knows the flags that are set here, and Node was started without flags of that kind. */
function hasKnownFlags(): boolean {
  const version = Number.parseInt(nodeProcess?.versions['v8'] ?? '', 10)
  const isSet = nodeFlags().some((flag) => /scavenge|sweeping|single.threaded|growing|predictable/.test(flag))
  return version >= 11 && version <= 13 && !isSet
}

/**
 * Resets flags of V8 to their values outside of collections. A worker that is terminated during one leaves them set:
 * its starter calls this once it has ended.
 */
export function restoreHeapFlags(): void {
  const heap = nodeProcess?.getBuiltinModule?.('node:v8') as HeapModule | undefined
  if (heap === undefined || !hasKnownFlags()) return
  for (const flag of collectorThreads) heap.setFlagsFromString(`--${flag}`)
  heap.setFlagsFromString('--heap-growing-percent=0')
}

/**
 * Looks up `gc` while its flag is set. The flag is set only meanwhile, so programs see no `gc` unless they were started
 * with it.
 */
function lookUp(heap: HeapModule, contexts: ContextModule): ((options?: unknown) => void) | undefined {
  const find = () => contexts.runInNewContext('typeof gc === "function" ? gc : undefined')
  try {
    const given = find()
    if (given !== undefined) return given as () => void
    heap.setFlagsFromString('--expose-gc')
    try {
      return find() as (() => void) | undefined
    } finally {
      heap.setFlagsFromString('--no-expose-gc')
    }
  } catch {
    // Another engine collects by itself.
    return undefined
  }
}

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
