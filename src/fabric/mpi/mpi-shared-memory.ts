import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { MemoryLocation, StagingMemory } from '../fabric.js'
import type { MpiLibrary } from './mpi-library.js'

/** The bytes of a process's staging memory; pages that are never used take no memory. */
export const stagingBytes = 64 * 2 ** 20
/**
 * The most processes per node that share memory: each maps the memory of all others. On larger nodes messages go by MPI
 * alone.
 */
const mostPerNode = 64
const tokenBytes = 16

/** A process of a job, which exchanges short texts with all others. */
export interface SharingJob {
  readonly library: Pick<MpiLibrary, 'memory'>
  readonly process: number
  readonly nodes: readonly string[]
  /** Gathers the text of every process. Collective. */
  texts(mine: string): string[]
}

/**
 * The memory of the processes of a node that all of them can read. Each has a file in memory, without a name, which
 * ends with the process. The others open it by the file descriptors that Linux lists, and map it read-only. The first
 * session that stages in it is the only one; others send everything by MPI.
 */
export class MpiSharedMemory {
  readonly own: Uint8Array
  /** The memory of every process; undefined for those on other nodes and for this one. */
  readonly theirs: readonly (Uint8Array | undefined)[]
  #isClaimed = false

  constructor(own: Uint8Array, theirs: readonly (Uint8Array | undefined)[]) {
    this.own = own
    this.theirs = theirs
  }

  /** Returns true for the session that may use this process's memory, until it releases it. */
  claim(): boolean {
    if (this.#isClaimed) return false
    this.#isClaimed = true
    return true
  }

  release(): void {
    this.#isClaimed = false
  }
}

/** The staging memory of one session. */
export class MpiStaging implements StagingMemory {
  readonly #shared: MpiSharedMemory
  /** The own memory; undefined until the session stages something. */
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

  /** Releases the memory, which no process of the session still reads or writes. */
  release(): void {
    if (this.#isOurs) this.#shared.release()
    this.#isOurs = false
  }
}

/**
 * Opens the memory that the processes of this node share. Returns undefined if they are alone, too many, in separate
 * containers, or not on Linux. All processes of the job call it, and those of one node get it or none does.
 */
export function openSharedMemory(job: SharingJob): MpiSharedMemory | undefined {
  const { process: me, nodes, library } = job
  const mates = [...nodes.keys()].filter((process) => nodes[process] === nodes[me])
  const isWanted = mates.length > 1 && mates.length <= mostPerNode
  // The global object loads `node:crypto` only when it is used.
  const token = Buffer.from(crypto.getRandomValues(new Uint8Array(tokenBytes)))
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
 * Maps the memory of another process; undefined if it cannot be opened, or belongs to a stranger with the same number.
 */
function mapOf({ memory }: Pick<MpiLibrary, 'memory'>, text: string): Uint8Array | undefined {
  if (text === '') return undefined
  const [pid, descriptor, token] = text.split(' ')
  const file = `/proc/${pid}/fd/${descriptor}`
  let opened: number
  try {
    // A stranger's descriptor may be a pipe: reading would wait, and take data that are not for this process.
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
