import { bytesOf } from '../../base/bytes.js'
import { sha256 } from '../../base/hash.js'
import { indexIn } from '../../base/search.js'
import { RankweaveError } from '../../errors.js'
import { frameKind } from '../../messages/process/frames.js'
import type { TableContext } from '../table/process-table.js'

const word = { seq: 3, total: 4, at: 5 } as const
const headerWords = 6

export const rowsCall = (header: Int32Array): number => header[word.seq]

/** The rows that a process has sent for one call, complete once `filled` is their length. */
interface Arriving {
  readonly pairs: Int32Array
  filled: number
  /** The ranks of the process that they have named, by position among its ranks. */
  readonly named: Uint8Array
  /** Whether they are the rows that it has committed to, once complete and compared. */
  isRight?: boolean
}

interface Waiting {
  readonly from: readonly number[]
  readonly digests: ReadonlyMap<number, string>
  resolve(): void
}

/**
 * Exchanges between the survivors of a communicator with a distributed table which ranks they host, because the slices
 * of lost processes are lost. The rows are rank and world rank, pair by pair. Each sends a message to each, in frames.
 * Memory: the rows of the communicator, once per call in progress.
 *
 * A process names its own ranks only, each once, in order, and none of a process that receives its rows. If it has
 * committed to a digest before, it sends the same rows to all. So all survivors take the same rows.
 */
export class SurvivorRows {
  readonly #state: TableContext
  readonly #arrived = new Map<number, Map<number, Arriving>>()
  readonly #waiting = new Map<number, Waiting>()

  constructor(state: TableContext) {
    this.#state = state
  }

  /** The rank and world rank of each rank hosted here. */
  get own(): Int32Array {
    const { localRanks } = this.#state
    const pairs = new Int32Array(localRanks.length * 2)
    localRanks.forEach((rank, index) => {
      pairs[2 * index] = rank
      pairs[2 * index + 1] = this.#state.worldRank(index)
    })
    return pairs
  }

  get ownDigest(): string {
    return digestOf(this.own)
  }

  /**
   * Sends this process's rows to the others of `to`, and resolves when the rows of each have arrived, or it is lost.
   *
   * @param digests of the rows, by process, if it has committed to them
   */
  exchange(seq: number, to: readonly number[], digests: ReadonlyMap<number, string>): Promise<void> {
    const { id, runtime } = this.#state
    const pairs = this.own
    const most = Math.max(1, runtime.fabric.maxPayloadBytes >>> 3) * 2
    for (const process of to) {
      if (process === runtime.process) continue
      for (let at = 0; at < pairs.length; at += most) {
        const header = new Int32Array(headerWords)
        header.set([frameKind.survivorRows, id.leader, id.counter, seq, pairs.length, at])
        runtime.send(process, header, bytesOf(pairs.subarray(at, at + most)))
      }
    }
    return new Promise((resolve) => {
      this.#waiting.set(seq, { from: to.filter((process) => process !== runtime.process), digests, resolve })
      this.check()
    })
  }

  /**
   * Adds rows of another process for a call in progress here; they come in order.
   *
   * @throws ERR_PROTOCOL for rows that the process cannot have
   */
  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    const seq = header[word.seq]
    const total = header[word.total]
    const at = header[word.at]
    const { runtime, processes } = this.#state
    const { firstRank } = runtime.layout
    const most = processes.processes.includes(src) ? 2 * (firstRank[src + 1] - firstRank[src]) : 0
    const call = this.#arrived.get(seq) ?? new Map<number, Arriving>()
    const before = call.get(src)
    const isTotal =
      before === undefined ? total >= 0 && total <= most && total % 2 === 0 : total === before.pairs.length
    const end = at + payload.byteLength / 4
    if (!isTotal || at !== (before?.filled ?? 0) || !Number.isSafeInteger(end) || end > total || end <= at)
      throw impossible(src, `at most ${most} numbers in order`, `${at} to ${end} of ${total}`)
    const rows = before ?? { pairs: new Int32Array(total), filled: 0, named: new Uint8Array(most / 2) }
    this.#arrived.set(seq, call.set(src, rows))
    bytesOf(rows.pairs).set(payload, at * 4)
    for (let i = at & ~1; i + 1 < end; i += 2) this.#requireRow(src, rows, i)
    rows.filled = end
    this.check()
  }

  /** @throws ERR_PROTOCOL for a row that process `src` cannot have */
  #requireRow(src: number, { pairs, named }: Arriving, i: number): void {
    const { size, localRanks, runtime } = this.#state
    const { firstRank } = runtime.layout
    const [rank, worldRank] = pairs.subarray(i, i + 2)
    const least = i === 0 ? 0 : pairs[i - 2] + 1
    if (rank < least || rank >= size) throw impossible(src, `a rank from ${least} to ${size - 1}`, rank)
    if (indexIn(localRanks, rank) >= 0) throw impossible(src, `no rank of process ${runtime.process}`, rank)
    if (worldRank < firstRank[src] || worldRank >= firstRank[src + 1])
      throw impossible(src, 'world ranks that it hosts', worldRank)
    if (named[worldRank - firstRank[src]]++ > 0) throw impossible(src, 'each world rank once', worldRank)
  }

  /** Drops the rows of a call that has ended, or will not complete. */
  forget(seq: number): void {
    this.#arrived.delete(seq)
    this.#waiting.delete(seq)
  }

  /** Resolves the exchanges that wait no longer, because rows have arrived or a process is lost. */
  check(): void {
    for (const [seq, { from, digests, resolve }] of [...this.#waiting]) {
      const { runtime } = this.#state
      const missing = from.filter((process) => !this.#isHere(seq, process, digests.get(process)))
      if (missing.some((process) => runtime.lostPeer(process) === undefined)) continue
      this.#waiting.delete(seq)
      resolve()
    }
  }

  /**
   * Tells whether the rows of a process have arrived. Rows that differ from what the process has committed to do not
   * count: it will be lost.
   */
  #isHere(seq: number, process: number, digest: string | undefined): boolean {
    const arriving = this.#arrived.get(seq)?.get(process)
    if (arriving === undefined || arriving.filled < arriving.pairs.length) return false
    arriving.isRight ??= digest === undefined || digestOf(arriving.pairs) === digest
    if (arriving.isRight) return true
    const { message } = impossible(process, 'the rows that it has committed to', 'others')
    this.#state.runtime.fabric.blame?.(process, message)
    return false
  }

  /** Returns the world ranks of the ranks of `processes`, in rank order, and forgets the call. */
  take(seq: number, processes: readonly number[]): Int32Array {
    const { runtime } = this.#state
    const call = this.#arrived.get(seq)
    this.#arrived.delete(seq)
    const rows: { readonly rank: number; readonly worldRank: number }[] = []
    for (const process of processes) {
      const pairs = process === runtime.process ? this.own : call!.get(process)!.pairs
      for (let i = 0; i < pairs.length; i += 2) rows.push({ rank: pairs[i], worldRank: pairs[i + 1] })
    }
    return Int32Array.from(
      rows.sort((a, b) => a.rank - b.rank),
      ({ worldRank }) => worldRank,
    )
  }
}

function digestOf(pairs: Int32Array): string {
  return sha256().update(bytesOf(pairs)).digest()
}

function impossible(process: number, expected: string, got: string | number): RankweaveError {
  const message = `rows of survivors of process ${process}: expected ${expected}, got ${got}`
  return new RankweaveError('ERR_PROTOCOL', message, { details: { process } })
}
