import type { MemoryLoans, MemoryLocation } from '../fabric.js'
import type { MpiLibrary } from './mpi-library.js'
import { MpiMemory } from './mpi-memory.js'
import type { SharingJob } from './mpi-shared-memory.js'

/** The most loans of a process at a time, in all its sessions. */
const mostLoans = 4096
/** The most bytes that are lent; MPI moves larger messages, because a copy keeps its process from other work. */
const mostLentBytes = 16 * 2 ** 20
/**
 * The most processes per node that lend. On larger nodes MPI moves all messages: each process tries to read from all
 * others.
 */
const mostPerNode = 1024
const tokenBytes = 16
const largestNumber = 2 ** 31 - 1

type LendingLibrary = Pick<MpiLibrary, 'addressOf' | 'readMemory'>

/** A process of a job, which exchanges short texts with all others. */
export interface LendingJob extends Omit<SharingJob, 'library'> {
  readonly library: LendingLibrary
}

/** A piece of memory that a process reads from another: up to two pieces, one after the other. */
interface Piece {
  readonly from: number
  readonly to: number
  readonly sizeBytes: number
}

/**
 * The memory that the processes of a node copy from one another by `process_vm_readv`, wherever it lies. A loan has a
 * number, and the word of its number in the lender's table says that it holds. A reader copies the word after the data:
 * if it does not find the number there, the lender may have changed what was copied.
 */
export class MpiLoans implements MemoryLoans {
  readonly #library: LendingLibrary
  readonly #table: MpiMemory
  /** The id of every process and the address of its table; id 0 of those that cannot be read. */
  readonly #pids: readonly number[]
  readonly #tables: readonly number[]
  readonly #reader: MemoryReader
  #last = 0

  constructor(
    library: LendingLibrary,
    table: MpiMemory,
    peers: readonly { readonly pid: number; readonly table: number }[],
  ) {
    this.#library = library
    this.#table = table
    this.#pids = peers.map(({ pid }) => pid)
    this.#tables = peers.map((peer) => peer.table)
    this.#reader = new MemoryReader(library)
  }

  lend(peer: number, bytes: Uint8Array): MemoryLocation | undefined {
    const { words } = this.#table
    if (this.#pids[peer] === 0 || bytes.byteLength === 0 || bytes.byteLength > mostLentBytes) return undefined
    this.#last = this.#last === largestNumber ? 1 : this.#last + 1
    const segment = this.#last
    if (words[segment % mostLoans] !== 0) return undefined
    words[segment % mostLoans] = segment
    return { segment, byteOffset: this.#library.addressOf(bytes) }
  }

  end({ segment }: MemoryLocation): void {
    this.#table.words[segment % mostLoans] = 0
  }

  copy(peer: number, { segment, byteOffset }: MemoryLocation, into: Uint8Array): boolean {
    const word = this.#reader.word
    const data = { from: byteOffset, to: this.#library.addressOf(into), sizeBytes: into.byteLength }
    const proof = { from: this.#tables[peer] + 4 * (segment % mostLoans), to: word.address, sizeBytes: 4 }
    word.words[0] = 0
    return this.#reader.read(this.#pids[peer], [data, proof]) && word.words[0] === segment
  }
}

/** Reads of other processes. */
class MemoryReader {
  readonly word: MpiMemory
  readonly #library: LendingLibrary
  /** The lists of two pieces here, then of their places there: address and length each. */
  readonly #pieces: MpiMemory

  constructor(library: LendingLibrary) {
    this.#library = library
    this.word = new MpiMemory(64, library.addressOf)
    this.#pieces = new MpiMemory(64, library.addressOf)
  }

  /** Reads pieces; false if a part could not be read. */
  read(pid: number, pieces: readonly Piece[]): boolean {
    let total = 0
    for (let i = 0; i < pieces.length; i++) {
      const { from, to, sizeBytes } = pieces[i]
      this.#pieces.setNumber(16 * i, 8, to)
      this.#pieces.setNumber(16 * i + 8, 8, sizeBytes)
      this.#pieces.setNumber(32 + 16 * i, 8, from)
      this.#pieces.setNumber(40 + 16 * i, 8, sizeBytes)
      total += sizeBytes
    }
    const { address } = this.#pieces
    const { readMemory } = this.#library
    return readMemory!(pid, address, pieces.length, address + 32, pieces.length, 0) === total
  }
}

/**
 * Opens the loans of this node. Returns undefined if its processes are alone or too many, run on another system than
 * Linux, or may not read each other's memory. All processes of the job call it, and those of one node get it or none
 * does.
 */
export function openLoans(job: LendingJob): MpiLoans | undefined {
  const { process: me, nodes, library } = job
  const mates = [...nodes.keys()].filter((process) => nodes[process] === nodes[me])
  const isWanted = mates.length > 1 && mates.length <= mostPerNode && library.readMemory !== undefined
  // The global object loads `node:crypto` only when it is used.
  const token = Buffer.from(crypto.getRandomValues(new Uint8Array(tokenBytes)))
  const table = isWanted ? new MpiMemory(4 * mostLoans, library.addressOf) : undefined
  table?.bytes.set(token)
  const texts = job.texts(
    table === undefined ? '' : `${process.pid} ${table.address} ${token.toString('hex')}`,
  )
  const peers = nodes.map((_, peer) => {
    const [pid, address, expected] = texts[peer].split(' ')
    const isRead = table !== undefined && mates.includes(peer) && expected !== undefined
    if (!isRead || !holds(library, Number(pid), Number(address), expected)) return { pid: 0, table: 0 }
    return { pid: Number(pid), table: Number(address) }
  })
  const isWhole = table !== undefined && mates.every((peer) => peers[peer].pid !== 0)
  const answers = job.texts(isWhole ? 'read' : '')
  if (!mates.every((peer) => answers[peer] === 'read')) return undefined
  table!.words.fill(0)
  return new MpiLoans(library, table!, peers)
}

/** Returns whether a process can be read, and is not a stranger that has the same number. */
function holds(library: LendingLibrary, pid: number, from: number, expected: string): boolean {
  const seen = new MpiMemory(tokenBytes, library.addressOf)
  const isRead = new MemoryReader(library).read(pid, [{ from, to: seen.address, sizeBytes: tokenBytes }])
  return isRead && Buffer.from(seen.bytes.subarray(0, tokenBytes)).toString('hex') === expected
}
