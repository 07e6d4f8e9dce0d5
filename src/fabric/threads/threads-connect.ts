import { availableParallelism, hostname } from 'node:os'
import { MessageChannel, type MessagePort, type ResourceLimits } from 'node:worker_threads'
import { requireEntries } from '../../base/known-options.js'
import {
  integerOption,
  type OptionTable,
  objectOption,
  positiveOption,
  uncheckedOptions,
  urlOption,
  valueOption,
  wordOption,
} from '../../base/option.js'
import { checkOptions, requireOption } from '../../base/option-table.js'
import { type Binding, bindings, coreOfEachProcess } from './core-binding.js'
import { sharedCoresWords } from './shared-cores.js'
import { initRing, maxPayloadOf, type RingMemory, ringBytes } from './threads-ring.js'

export interface ThreadsOptions {
  /** The number of worker threads. Default: as many as `ranksPerProcess` has entries, else 2. */
  readonly processes?: number
  /** The ranks of every process, for `run`. Default: ranks are distributed evenly. */
  readonly ranksPerProcess?: readonly number[]
  /** The node label of every process. Default: the host's name for all. */
  readonly nodes?: readonly string[]
  /**
   * The bytes of the ring from one process to another; a power of two, 4096 or more. Default 2 MiB, less for more than
   * five processes.
   */
  readonly ringBytes?: number
  /**
   * The limits of each worker, such as `{ maxOldGenerationSizeMb: 512 }`. A worker that exceeds them ends and its
   * process is lost, not the whole program. Default: Node's limits.
   */
  readonly resourceLimits?: ResourceLimits
  /**
   * The binding. With `core`, process i runs on the i-th core that this program may use, on all its hardware threads,
   * as `mpirun --bind-to core` does. It needs Linux, at most one process per core, and the package koffi. A world gains
   * if another busy program runs beside it; two bound worlds on the same cores lose. Default `none`: Linux places the
   * threads.
   */
  readonly bindTo?: Binding
  /**
   * The library's entry of worker threads, where an application bundles it. Default: that of the installed
   * package.
   */
  readonly workerUrl?: URL
}

/** The resolved options that connect threads. */
type ThreadsShape = Required<Pick<ThreadsOptions, 'processes' | 'nodes' | 'ringBytes' | 'bindTo'>>

/** The data that one process needs to take part; sent to its worker unchanged, with `ports` in the transfer list. */
export interface ThreadsConnection {
  readonly process: number
  readonly nodes: readonly string[]
  readonly ringBytes: number
  readonly maxPayloadBytes: number
  /** Whether there are more processes than processors that the program may use. */
  readonly isOversubscribed: boolean
  /** The number of processes that can run at once. */
  readonly coresAtOnce: number
  /** The processors on which the process may run; null: any. */
  readonly processors: readonly number[] | null
  /** The `processState` of every process, one word each, `stateStride` words apart, then the words of `SharedCores`. */
  readonly states: SharedArrayBuffer
  /** The rings from every process to the receiver, by receiver. */
  readonly rings: readonly SharedArrayBuffer[]
  /** The port to every other process; a message wakes it. */
  readonly ports: readonly (MessagePort | null)[]
}

/**
 * The state of a process as others see it. The sender of a record must also wake a process that is `asleep`, by a
 * message, or `blocked`, by a notification.
 */
export const processState = { awake: 0, asleep: 1, closed: 2, blocked: 3 } as const
/** The words between two states: a cache line each, so that processes do not invalidate each other's. */
export const stateStride = 16
/** The index of the word beside the state of process 0: 1 while a process runs an action alone. */
export const aloneWord = 1

const maxThreads = 64
/**
 * The limit of frames: a copy of this size still finds its source in the cache, and the receiver can overlap its own.
 */
const maxFrameBytes = 65_536

/**
 * Connects `processes` threads with each other. The memory lives as long as any of them retains it.
 *
 * @throws ERR_WORLD; ERR_FABRIC if they cannot be bound as `bindTo` says
 */
export function connectThreads(options: ThreadsShape): ThreadsConnection[] {
  const { processes, nodes, ringBytes: size, bindTo } = options
  const cores = bindTo === 'core' ? coreOfEachProcess(processes) : null
  const isOversubscribed = processes > availableParallelism()
  const coresAtOnce = Math.min(processes, availableParallelism())
  const maxPayloadBytes = Math.min(maxFrameBytes, maxPayloadOf(size))
  const states = new SharedArrayBuffer((processes * stateStride + sharedCoresWords) * 4)
  const rings = Array.from({ length: processes }, () => new SharedArrayBuffer(processes * ringBytes(size)))
  for (let dst = 0; dst < processes; dst++) {
    for (let src = 0; src < processes; src++) initRing(ringOf({ rings, ringBytes: size }, src, dst))
  }
  const ports = Array.from({ length: processes }, () => new Array<MessagePort | null>(processes).fill(null))
  for (let a = 0; a < processes; a++) {
    for (let b = a + 1; b < processes; b++) {
      const { port1, port2 } = new MessageChannel()
      ports[a][b] = port1
      ports[b][a] = port2
    }
  }
  return ports.map((own, process) => ({
    process,
    nodes,
    ringBytes: size,
    maxPayloadBytes,
    isOversubscribed,
    coresAtOnce,
    processors: cores?.[process] ?? null,
    states,
    rings,
    ports: own,
  }))
}

export function ringOf(
  { rings, ringBytes: size }: Pick<ThreadsConnection, 'rings' | 'ringBytes'>,
  src: number,
  dst: number,
): RingMemory {
  return { buffer: rings[dst], offset: src * ringBytes(size), sizeBytes: size }
}

const sizeCode = { code: 'ERR_WORLD' } as const

const threadsOptions = {
  processes: integerOption({ ...sizeCode, least: 1, most: maxThreads }),
  ...uncheckedOptions('ranksPerProcess', 'nodes'),
  ringBytes: valueOption<number>('a power of two from 4096 to 2^28', isRingSize, sizeCode),
  // Node ignores limits that it does not know.
  resourceLimits: objectOption<ResourceLimits>(
    {
      maxOldGenerationSizeMb: positiveOption,
      maxYoungGenerationSizeMb: positiveOption,
      codeRangeSizeMb: positiveOption,
      stackSizeMb: positiveOption,
    },
    sizeCode,
  ),
  bindTo: wordOption(bindings, sizeCode),
  workerUrl: urlOption,
} satisfies OptionTable<ThreadsOptions>

/** Returns the threads of a world of so many ranks that names none: one for each core, at most one for each rank. */
export function threadsOfRanks(ranks: number): number {
  const cores = availableParallelism()
  return ranks >= 1 && ranks < cores ? ranks : cores
}

function isRingSize(size: unknown): boolean {
  return typeof size === 'number' && size >= 4096 && size <= 2 ** 28 && Number.isInteger(Math.log2(size))
}

/** @throws ERR_WORLD for numbers that are out of range or do not agree; ERR_ARGUMENT for unknown options */
export function resolveThreads(options: ThreadsOptions): ThreadsShape {
  checkOptions('threads', threadsOptions, options)
  const { ranksPerProcess, nodes } = options
  const processes = options.processes ?? ranksPerProcess?.length ?? nodes?.length ?? 2
  requireOption('threads', 'processes', threadsOptions.processes, processes)
  requireEntries('threads', { ranksPerProcess, nodes }, processes)
  return {
    processes,
    nodes: nodes ?? new Array<string>(processes).fill(hostname()),
    ringBytes: options.ringBytes ?? defaultRingBytes(processes),
    bindTo: options.bindTo ?? 'none',
  }
}

/**
 * Returns the default bytes of a ring: at most 64 MiB in all, of which only the pages in use are backed by memory. A
 * ring holds a few of the largest frames and, if there is space, a message of 1 MiB.
 */
function defaultRingBytes(processes: number): number {
  let size = 2 ** 21
  while (size > 2 ** 15 && size * processes * processes > 2 ** 26) size /= 2
  return size
}
