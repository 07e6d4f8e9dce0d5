import { GrowingInt32Array } from '../base/growing-array.js'
import { opKind, type Schedule } from './ir.js'

/** The operations of a schedule. */
export type Operations = Pick<
  Schedule,
  'opStart' | 'opKind' | 'opPeer' | 'opTag' | 'entryStart' | 'entryBlock' | 'entryFrom' | 'entryTo'
>

const kinds = 3

/** Rows of operations that can be indexed: ranks times phases. */
export const maxRows = Math.floor(0x7fffffff / kinds) - 1

/**
 * Operations appended in any order and returned by rank, phase and kind (sends, receives, copies); those of one rank,
 * phase and kind keep their order. Nothing is checked.
 */
export class OperationLog {
  readonly #rows: number
  readonly #phases: number
  readonly #keys = new GrowingInt32Array(1024)
  readonly #peers = new GrowingInt32Array(1024)
  readonly #tags = new GrowingInt32Array(1024)
  readonly #entryStarts = new GrowingInt32Array(1024)
  readonly #blocks = new GrowingInt32Array(4096)
  readonly #froms = new GrowingInt32Array(4096)
  readonly #tos = new GrowingInt32Array(4096)
  #isSorted = true
  #lastKey = -1

  constructor(ranks: number, phases: number) {
    this.#rows = ranks * phases
    this.#phases = phases
  }

  open(rank: number, phase: number, kind: number, peer: number, tag: number): void {
    const key = (rank * this.#phases + phase) * kinds + kind
    if (key < this.#lastKey) this.#isSorted = false
    this.#lastKey = key
    this.#keys.push(key)
    this.#peers.push(peer)
    this.#tags.push(tag)
    this.#entryStarts.push(this.#blocks.length)
  }

  /** Adds an entry to the operation opened last. */
  add(block: number, from: number, to: number): void {
    this.#blocks.push(block)
    this.#froms.push(from)
    this.#tos.push(to)
  }

  /** Ends the log. */
  operations(): Operations {
    this.#entryStarts.push(this.#blocks.length)
    const bucketStart = new Int32Array(this.#rows * kinds + 1)
    for (const key of this.#keys.view()) bucketStart[key + 1]++
    for (let b = 1; b < bucketStart.length; b++) bucketStart[b] += bucketStart[b - 1]
    const opStart = new Int32Array(this.#rows + 1)
    for (let row = 0; row <= this.#rows; row++) opStart[row] = bucketStart[row * kinds]
    return { opStart, ...(this.#isSorted ? this.#asAppended() : this.#byKey(bucketStart)) }
  }

  #asAppended() {
    return {
      opKind: Uint8Array.from(this.#keys.view(), (key) => key % kinds),
      opPeer: this.#peers.toArray(),
      opTag: this.#tags.toArray(),
      entryStart: this.#entryStarts.toArray(),
      entryBlock: this.#blocks.toArray(),
      entryFrom: this.#froms.toArray(),
      entryTo: this.#tos.toArray(),
    }
  }

  /** A stable counting sort. Overwrites `bucketStart`. */
  #byKey(bucketStart: Int32Array) {
    const keys = this.#keys.view()
    const starts = this.#entryStarts.view()
    const order = new Int32Array(keys.length)
    for (let op = 0; op < keys.length; op++) order[bucketStart[keys[op]]++] = op

    const columns = {
      opKind: new Uint8Array(keys.length),
      opPeer: new Int32Array(keys.length),
      opTag: new Int32Array(keys.length),
      entryStart: new Int32Array(keys.length + 1),
      entryBlock: new Int32Array(this.#blocks.length),
      entryFrom: new Int32Array(this.#blocks.length),
      entryTo: new Int32Array(this.#blocks.length),
    }
    const [peers, tags] = [this.#peers.view(), this.#tags.view()]
    const [blocks, froms, tos] = [this.#blocks.view(), this.#froms.view(), this.#tos.view()]
    let entry = 0
    for (let op = 0; op < order.length; op++) {
      const appended = order[op]
      columns.opKind[op] = keys[appended] % kinds
      columns.opPeer[op] = peers[appended]
      columns.opTag[op] = tags[appended]
      for (let e = starts[appended]; e < starts[appended + 1]; e++, entry++) {
        columns.entryBlock[entry] = blocks[e]
        columns.entryFrom[entry] = froms[e]
        columns.entryTo[entry] = tos[e]
      }
      columns.entryStart[op + 1] = entry
    }
    return columns
  }
}

/** Adds an entry of an operation: sends only read, receives only write. */
export function addEntry(
  log: OperationLog,
  kind: number,
  block: number,
  place: number,
  copyTo: number,
): void {
  if (kind === opKind.send) log.add(block, place, -1)
  else if (kind === opKind.receive) log.add(block, -1, place)
  else log.add(block, place, copyTo)
}
