import { nodeFlags, nodeProcess } from '../../base/node-process.js'

/** What collects young objects, and what tells how many bytes of buffers the heap holds. */
export interface YoungCollector {
  collect(): void
  externalBytes(): number
}

/**
 * The memory that receives without a buffer get. V8 counts the bytes of such arrays with those of old
 * objects: after 8 to 16 MiB it begins to mark the whole heap, though nearly all of them are garbage that a
 * collection of young objects would release. On two cores that took ten times as long as the messages. So
 * this process collects its young objects before, as long as that pays off.
 */
export class FreshMemory {
  readonly #openCollector: () => YoungCollector | undefined
  /** Opened when it is first needed. */
  #collector: YoungCollector | undefined
  #tries = 0
  #periodBytes = shortestPeriodBytes
  #leftBytes = shortestPeriodBytes
  /** Of the heap, before the last collection. */
  #externalBytes: number | undefined

  constructor(openCollector: () => YoungCollector | undefined) {
    this.#openCollector = openCollector
  }

  /**
   * A receive is about to make an array of so many bytes. The program usually holds the last array until it has this
   * one. Collected now, each survives one collection; collected once this one is made, each would survive two, and so
   * become an old object, which only a collection of the whole heap releases.
   */
  take(sizeBytes: number): void {
    this.#leftBytes -= sizeBytes
    if (this.#leftBytes <= 0) this.#collect()
  }

  #collect(): void {
    const takenBytes = this.#periodBytes - this.#leftBytes
    this.#collector ??= this.#openCollector()
    const collector = this.#collector
    if (collector === undefined) {
      this.#tries++
      this.#leftBytes = this.#tries < mostTries ? this.#periodBytes : Number.POSITIVE_INFINITY
      return
    }
    const externalBytes = collector.externalBytes()
    const retainedBytes = externalBytes - (this.#externalBytes ?? externalBytes)
    this.#externalBytes = externalBytes
    // The program retains what it receives: there is little to release.
    const isInVain = retainedBytes * 2 > takenBytes
    this.#periodBytes = isInVain ? Math.min(longestPeriodBytes, this.#periodBytes * 2) : shortestPeriodBytes
    this.#leftBytes = this.#periodBytes
    collector.collect()
  }
}

/** Less than what V8 takes at least before it begins to mark. */
export const shortestPeriodBytes = 4 * 2 ** 20
/** Where the program retains what it receives. */
export const longestPeriodBytes = 64 * 2 ** 20

/** Another thread may clear the flag between its setting and the look-up here. */
const mostTries = 16

interface HeapModule {
  setFlagsFromString(flag: string): void
  getHeapStatistics(): { readonly external_memory: number }
}

interface ContextModule {
  runInNewContext(code: string): unknown
}

/** V8's own, where Node has it. */
export function youngCollector(): YoungCollector | undefined {
  const heap = nodeProcess?.getBuiltinModule?.('node:v8') as HeapModule | undefined
  const contexts = nodeProcess?.getBuiltinModule?.('node:vm') as ContextModule | undefined
  if (heap === undefined || contexts === undefined) return undefined
  const found = lookUp(heap, contexts)
  if (typeof found !== 'function') return undefined
  const minor = () => found({ type: 'minor' })
  const collect = hasThreadsOfCollector() ? onThisThread(heap, minor) : minor
  let hasRetained = false
  return {
    collect() {
      if (!hasRetained) retainReleasedMemory()
      hasRetained = true
      collect()
    },
    externalBytes: () => heap.getHeapStatistics().external_memory,
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

/** Whether V8 knows these flags, and Node was started without flags of that kind. */
function hasThreadsOfCollector(): boolean {
  const version = Number.parseInt(nodeProcess?.versions['v8'] ?? '', 10)
  const isSet = nodeFlags().some((flag) => /scavenge|sweeping|single.threaded/.test(flag))
  return version >= 11 && version <= 13 && !isSet
}

/** The flag is set only meanwhile, so programs see no `gc` unless they were started with it. */
function lookUp(heap: HeapModule, contexts: ContextModule): unknown {
  const find = () => contexts.runInNewContext('typeof gc === "function" ? gc : undefined')
  try {
    const given = find()
    if (given !== undefined) return given
    heap.setFlagsFromString('--expose-gc')
    try {
      return find()
    } finally {
      heap.setFlagsFromString('--no-expose-gc')
    }
  } catch {
    // Another engine collects by itself.
    return undefined
  }
}
