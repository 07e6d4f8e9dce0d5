import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { MemoryLocation, StagingMemory } from '../fabric.js'
import type { MpiLibrary } from './mpi-library.js'

/** Staging memory of a process; pages that are never used take no memory. */
export const stagingBytes = 64 * 2 ** 20
/** On nodes with more processes their messages go by MPI alone: each maps the memory of all others. */
const mostPerNode = 64
const tokenBytes = 16

/** One process of a job, which exchanges short texts with all others. */
export interface SharingJob {
  readonly library: Pick<MpiLibrary, 'memory'>
  readonly process: number
  readonly nodes: readonly string[]
  /** The text of every process. Collective. */
  texts(mine: string): string[]
}

/**
 * Memory of the processes of a node that all of them can read: each has a file in memory, without a name,
 * which the others open by the file descriptors that Linux lists of it, and map read-only. It ends with the
 * processes.
 *
 * One session at a time stages in it, the first that does; others send all by MPI.
 */
export class MpiSharedMemory {
  readonly own: Uint8Array
  /** By process; undefined for those on other nodes and for this one. */
  readonly theirs: readonly (Uint8Array | undefined)[]
  #isClaimed = false

  constructor(own: Uint8Array, theirs: readonly (Uint8Array | undefined)[]) {
    this.own = own
    this.theirs = theirs
  }

  /** True for the session that may use this process's memory, until it releases it. */
  claim(): boolean {
    if (this.#isClaimed) return false
    this.#isClaimed = true
    return true
  }

  release(): void {
    this.#isClaimed = false
  }
}

/** The same for one session. */
export class MpiStaging implements StagingMemory {
  readonly #shared: MpiSharedMemory
  /** Undefined until the session stages something. */
  #own: Uint8Array | undefined
  #isOurs = false

  constructor(shared: MpiSharedMemory) {
    this.#shared = shared
  }

  memory(): Uint8Array {
    if (this.#own !== undefined) return this.#own
    this.#isOurs = this.#shared.claim()
    this.#own = this.#isOurs ? this.#shared.own : new Uint8Array(0)
    return this.#own
  }

  isSharedWith(peer: number): boolean {
    return this.#shared.theirs[peer] !== undefined
  }

  locate(peer: number, { buffer, byteOffset }: Uint8Array): MemoryLocation | undefined {
    const { own, theirs } = this.#shared
    if (buffer !== own.buffer || theirs[peer] === undefined) return undefined
    return { segment: 1, byteOffset: byteOffset - own.byteOffset }
  }

  reach(peer: number, { byteOffset }: MemoryLocation, sizeBytes: number): Uint8Array {
    return this.#shared.theirs[peer]!.subarray(byteOffset, byteOffset + sizeBytes)
  }

  /** No process of the session still reads or writes it. */
  release(): void {
    if (this.#isOurs) this.#shared.release()
    this.#isOurs = false
  }
}

/**
 * The memory that the processes of this node share; undefined where they are alone, too many, in containers
 * of their own, or not on Linux. All processes of the job call it, and those of one node get it or none does.
 */
export function openSharedMemory(job: SharingJob): MpiSharedMemory | undefined {
  const { process: me, nodes, library } = job
  const mates = [...nodes.keys()].filter((process) => nodes[process] === nodes[me])
  const isWanted = mates.length > 1 && mates.length <= mostPerNode
  const token = randomBytes(tokenBytes)
  const own = isWanted ? library.memory.create(stagingBytes) : undefined
  own?.bytes.set(token)
  const texts = job.texts(own === undefined ? '' : `${process.pid} ${own.file} ${token.toString('hex')}`)
  const theirs = nodes.map((_, peer) =>
    own === undefined || peer === me || !mates.includes(peer) ? undefined : mapOf(library, texts[peer]),
  )
  const isWhole = own !== undefined && mates.every((peer) => peer === me || theirs[peer] !== undefined)
  const answers = job.texts(isWhole ? 'mapped' : '')
  if (own !== undefined) closeSync(own.file)
  if (!mates.every((peer) => answers[peer] === 'mapped')) return undefined
  return new MpiSharedMemory(own!.bytes, theirs)
}

/**
 * The memory of another process; undefined if it cannot be opened, or is another process's that has the same
 * number.
 */
function mapOf({ memory }: Pick<MpiLibrary, 'memory'>, text: string): Uint8Array | undefined {
  if (text === '') return undefined
  const [pid, descriptor, token] = text.split(' ')
  const file = `/proc/${pid}/fd/${descriptor}`
  let opened: number
  try {
    // A stranger's descriptor may be a pipe, whose reader would wait, and take what is not for it.
    if (!statSync(file).isFile()) return undefined
    opened = openSync(file, 'r')
  } catch {
    return undefined
  }
  try {
    const seen = Buffer.alloc(tokenBytes)
    readSync(opened, seen, 0, tokenBytes, 0)
    return seen.toString('hex') === token ? memory.map(opened, stagingBytes) : undefined
  } finally {
    closeSync(opened)
  }
}
