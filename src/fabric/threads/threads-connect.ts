import { hostname } from 'node:os'
import { MessageChannel, type MessagePort, type ResourceLimits } from 'node:worker_threads'
import { requireKnownOptions } from '../../base/known-options.js'
import { RankweaveError, shown } from '../../errors.js'
import { initRing, maxPayloadOf, type RingMemory, ringBytes } from './threads-ring.js'

export interface ThreadsOptions {
  /** Worker threads. Default: as many as `ranksPerProcess` has entries, else 2. */
  readonly processes?: number
  /** For `run`: ranks of every process. Default: ranks are distributed evenly. */
  readonly ranksPerProcess?: readonly number[]
  /** Node label of every process. Default: the host's name for all. */
  readonly nodes?: readonly string[]
  /**
   * Size of the ring from one process to another; a power of two, 4096 or more. Default 1 MiB, less for many
   * processes.
   */
  readonly ringBytes?: number
  /**
   * Limits of each worker, such as `{ maxOldGenerationSizeMb: 512 }`; a worker that exceeds them ends and its
   * process is lost, not the whole program. Default: Node's limits.
   */
  readonly resourceLimits?: ResourceLimits
  /**
   * The library's entry of worker threads, where an application bundles it. Default: that of the installed
   * package.
   */
  readonly workerUrl?: URL
}

/** The resolved options that connect threads. */
export type ThreadsShape = Required<Pick<ThreadsOptions, 'processes' | 'nodes' | 'ringBytes'>>

/** What one process needs to take part; sent to its worker unchanged, with `ports` in the transfer list. */
export interface ThreadsConnection {
  readonly process: number
  readonly nodes: readonly string[]
  readonly ringBytes: number
  readonly maxPayloadBytes: number
  /** One word per process, `stateStride` words apart: its `processState`. */
  readonly states: SharedArrayBuffer
  /** By receiver: the rings from every process to it. */
  readonly rings: readonly SharedArrayBuffer[]
  /** To every other process; a message wakes it. */
  readonly ports: readonly (MessagePort | null)[]
}

/**
 * What the others know of a process. Who sends something must also wake a process that is `asleep`, by a
 * message, or `blocked`, by a notification.
 */
export const processState = { awake: 0, asleep: 1, closed: 2, blocked: 3 } as const
/** A cache line each, so that processes do not invalidate each other's. */
export const stateStride = 16

export const maxThreads = 64
/**
 * Limits frames: a copy of this size still finds its source in the cache, and the receiver can overlap its
 * own.
 */
const maxFrameBytes = 65_536

/** Connects `processes` threads with each other. The memory lives as long as any of them retains it. */
export function connectThreads(options: ThreadsShape): ThreadsConnection[] {
  const { processes, nodes, ringBytes: size } = options
  const maxPayloadBytes = Math.min(maxFrameBytes, maxPayloadOf(size))
  const states = new SharedArrayBuffer(processes * stateStride * 4)
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

const optionNames: Readonly<Record<keyof ThreadsOptions, true>> = {
  processes: true,
  ranksPerProcess: true,
  nodes: true,
  ringBytes: true,
  resourceLimits: true,
  workerUrl: true,
}

/** @throws ERR_WORLD for numbers that are out of range or do not agree; ERR_ARGUMENT for unknown options */
export function resolveThreads(options: ThreadsOptions): ThreadsShape {
  requireKnownOptions('threads', options, optionNames)
  const { ranksPerProcess, nodes } = options
  const processes = options.processes ?? ranksPerProcess?.length ?? nodes?.length ?? 2
  if (!Number.isSafeInteger(processes) || processes < 1 || processes > maxThreads) {
    throw new RankweaveError(
      'ERR_WORLD',
      `threads: processes must be an integer in 1..${maxThreads}, got ${String(processes)}`,
    )
  }
  if (ranksPerProcess !== undefined && ranksPerProcess.length !== processes) {
    throw new RankweaveError(
      'ERR_WORLD',
      `threads: ranksPerProcess has ${ranksPerProcess.length} entries for ${processes} processes`,
    )
  }
  if (nodes !== undefined && nodes.length !== processes) {
    throw new RankweaveError('ERR_WORLD', `threads: ${nodes.length} node labels for ${processes} processes`)
  }
  checkLimits(options.resourceLimits)
  if (options.workerUrl !== undefined && !(options.workerUrl instanceof URL)) {
    throw new RankweaveError(
      'ERR_ARGUMENT',
      `threads: expected a URL as workerUrl, got ${shown(options.workerUrl)}`,
    )
  }
  const size = options.ringBytes ?? defaultRingBytes(processes)
  if (!Number.isSafeInteger(size) || size < 4096 || size > 2 ** 28 || (size & (size - 1)) !== 0) {
    throw new RankweaveError(
      'ERR_WORLD',
      `threads: ringBytes must be a power of two in 4096..2^28, got ${String(size)}`,
    )
  }
  return {
    processes,
    nodes: nodes ?? new Array<string>(processes).fill(hostname()),
    ringBytes: size,
  }
}

const limitNames = ['maxOldGenerationSizeMb', 'maxYoungGenerationSizeMb', 'codeRangeSizeMb', 'stackSizeMb']

/** Node ignores limits it does not understand. */
function checkLimits(limits: ResourceLimits | undefined): void {
  if (limits === undefined) return
  const entries = typeof limits === 'object' && limits !== null ? Object.entries(limits) : [['', limits]]
  for (const [name, value] of entries) {
    const positive = typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY
    if (limitNames.includes(name) && (positive || value === undefined)) continue
    throw new RankweaveError(
      'ERR_WORLD',
      `threads: resourceLimits take ${limitNames.join(', ')} as positive numbers, got ${name} ${shown(value)}`,
    )
  }
}

/**
 * At most 64 MiB in all, of which only the pages in use are backed by memory. A ring holds a few of the
 * largest frames.
 */
function defaultRingBytes(processes: number): number {
  let size = 2 ** 20
  while (size > 2 ** 15 && size * processes * processes > 2 ** 26) size /= 2
  return size
}
