import { nodeFlags, nodeProcess } from '../base/node-process.js'
import type { FreshHeap } from './fabric.js'

interface HeapModule {
  setFlagsFromString(flag: string): void
  getHeapStatistics(): { readonly external_memory: number; readonly used_heap_size: number }
}

interface ContextModule {
  runInNewContext(code: string): unknown
}

/**
 * V8's heap, where Node has what steers it.
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
  /** Goes when V8 marks. */
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
 * V8 finds the limit from which on it marks at the end of each marking: of a small heap, some 16 MiB above what it
 * holds, so two long arrays reach it. With this flag, that end sets one further above, which holds until V8 marks
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
 * The C library gives the system what is released, and new arrays then cost a page fault per page, until a
 * large block is released: glibc retains twice as much from then on, at most 64 MiB, of each thread. No page of
 * this one is ever used.
 */
function retainReleasedMemory(): void {
  try {
    new ArrayBuffer(largestRetained)
  } catch {
    // Address space is limited: each array costs its page faults.
  }
}

/** glibc takes no larger block for its limit. */
const largestRetained = 2 ** 25 - 2 ** 13

/**
 * A collection whose work is done by the thread that needs the memory. Threads of V8 would share it, and
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

/** Whether V8 knows the flags that are set here, and Node was started without flags of that kind. */
function hasKnownFlags(): boolean {
  const version = Number.parseInt(nodeProcess?.versions['v8'] ?? '', 10)
  const isSet = nodeFlags().some((flag) => /scavenge|sweeping|single.threaded|growing|predictable/.test(flag))
  return version >= 11 && version <= 13 && !isSet
}

/**
 * Sets flags of V8 back to what they are outside of collections. A worker that is terminated amid one leaves them: who
 * started it calls this once it has ended.
 */
export function restoreHeapFlags(): void {
  const heap = nodeProcess?.getBuiltinModule?.('node:v8') as HeapModule | undefined
  if (heap === undefined || !hasKnownFlags()) return
  for (const flag of collectorThreads) heap.setFlagsFromString(`--${flag}`)
  heap.setFlagsFromString('--heap-growing-percent=0')
}

/** The flag is set only meanwhile, so programs see no `gc` unless they were started with it. */
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
