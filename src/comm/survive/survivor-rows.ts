import { bytesOf } from '../../base/bytes.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { frameKind } from '../../messages/process/frames.js'
import type { TableContext } from '../table/table-context.js'

const word = { seq: 3, total: 4, at: 5 } as const
const headerWords = 6

/** Which call the rows of a frame belong to. */
export const rowsCall = (header: Int32Array): number => header[word.seq]

/** Rows that a process has sent for one call, complete once `filled` is their length. */
interface Arriving {
  readonly pairs: Int32Array
  filled: number
}

/**
 * The survivors of a communicator with a distributed table tell each other which ranks they host, because the
 * slices of lost processes are lost: rank and world rank, pair by pair. A message from each to each, in
 * frames. Memory: the rows of the communicator, once per call in progress.
 */
export class SurvivorRows {
  readonly #state: TableContext
  /** By call, then by process. */
  readonly #arrived = new Map<number, Map<number, Arriving>>()
  readonly #waiting = new Map<number, { readonly from: readonly number[]; resolve(): void }>()

  constructor(state: TableContext) {
    this.#state = state
  }

  /** Rank and world rank of the ranks hosted here. */
  get own(): Int32Array {
    const { localRanks } = this.#state
    const pairs = new Int32Array(localRanks.length * 2)
    localRanks.forEach((rank, index) => {
      pairs[2 * index] = rank
      pairs[2 * index + 1] = this.#state.worldRank(index)
    })
    return pairs
  }

  /**
   * Sends this process's rows to the others of `to`, and resolves when those of each of them are here, or it
   * is lost.
   */
  exchange(seq: number, to: readonly number[]): Promise<void> {
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
      this.#waiting.set(seq, { from: to.filter((process) => process !== runtime.process), resolve })
      this.check()
    })
  }

  /**
   * Rows of another process for a call in progress here; they come in order.
   *
   * @throws ERR_PROTOCOL for rows that the process cannot have
   */
  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    const seq = header[word.seq]
    const total = header[word.total]
    const at = header[word.at]
    const { firstRank } = this.#state.runtime.layout
    const most = 2 * (firstRank[src + 1] - firstRank[src])
    const call = this.#arrived.get(seq) ?? new Map<number, Arriving>()
    const before = call.get(src)
    const isTotal = before === undefined ? total >= 0 && total <= most : total === before.pairs.length
    const end = at + payload.byteLength / 4
    if (!isTotal || at !== (before?.filled ?? 0) || !Number.isSafeInteger(end) || end > total || end <= at) {
      const message = `expected at most ${most} numbers on the ranks of process ${src}, in order, got ${at} to ${end} of ${total}`
      throw new RankweaveError('ERR_PROTOCOL', message)
    }
    const rows = before ?? { pairs: new Int32Array(total), filled: 0 }
    this.#arrived.set(seq, call.set(src, rows))
    bytesOf(rows.pairs).set(payload, at * 4)
    for (let i = at | 1; i < end; i += 2) {
      const worldRank = rows.pairs[i]
      if (worldRank < firstRank[src] || worldRank >= firstRank[src + 1])
        throw wrongValue('ERR_PROTOCOL', `rows of survivors: expected ranks of process ${src}`, worldRank)
    }
    rows.filled = end
    this.check()
  }

  /** The call has ended, or will not: what has arrived for it is dropped. */
  forget(seq: number): void {
    this.#arrived.delete(seq)
    this.#waiting.delete(seq)
  }

  /** More has arrived, or a process is lost. */
  check(): void {
    for (const [seq, { from, resolve }] of [...this.#waiting]) {
      const rows = this.#arrived.get(seq)
      const isHere = (process: number) => {
        const arriving = rows?.get(process)
        return arriving !== undefined && arriving.filled === arriving.pairs.length
      }
      const { runtime } = this.#state
      if (!from.every((process) => isHere(process) || runtime.lostPeer(process) !== undefined)) continue
      this.#waiting.delete(seq)
      resolve()
    }
  }

  /** World ranks of the ranks of `processes`, in rank order, and forgets the call. */
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
