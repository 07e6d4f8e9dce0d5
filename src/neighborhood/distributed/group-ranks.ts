import { bytesOf } from '../../base/bytes.js'
import { GrowingInt32Array } from '../../base/growing-array.js'
import type { Exchange } from '../../comm/calls/exchange.js'
import { GroupSearch } from '../../topology/friends/group-search.js'
import { wavesOf } from '../../topology/grouping/distributed/group-by-messages.js'
import { GroupingRank } from '../../topology/grouping/distributed/grouping-rank.js'
import {
  type GroupingAgreement,
  type GroupingMessage,
  groupingMessageKinds,
  type MessageCounts,
  noMessages,
  type RankPattern,
  type RankView,
} from '../../topology/grouping/distributed/rank-view.js'

export interface HostedGrouping {
  /** Of the hosted ranks, in their order. */
  readonly patterns: readonly RankPattern[]
  /** Messages that the hosted ranks sent, also to each other. */
  readonly messages: MessageCounts
  /** By round, over the hosted ranks. */
  readonly waves: readonly number[]
  /** Frames that left the process. */
  readonly framesSent: number
}

/** Words of a message before its ranks: from, to, kind, round, wave, number of ranks. */
const headWords = 6
const doneMarker = new Uint8Array(0)

/**
 * Groups the ranks of a process with those of the other processes. Messages between ranks of the process are delivered
 * directly; those to other processes are collected into a frame per process until no local message is left.
 *
 * @param processOf process index of every rank
 * @param step of the exchange, for this alone
 */
export function groupHostedRanks(
  exchange: Exchange,
  step: number,
  views: readonly RankView[],
  agreement: GroupingAgreement,
  processOf: Int32Array,
): Promise<HostedGrouping> {
  return new HostedRanks(exchange, step, views, agreement, processOf).run()
}

class HostedRanks {
  readonly #exchange: Exchange
  readonly #step: number
  readonly #processOf: Int32Array
  readonly #ranks = new Map<number, GroupingRank>()
  readonly #messages = noMessages()
  /** Messages between ranks of this process, in the order of sending. */
  #inside: { from: number; to: number; message: GroupingMessage }[] = []
  readonly #outside: readonly GrowingInt32Array[]
  #framesSent = 0
  #sentDone = false

  constructor(
    exchange: Exchange,
    step: number,
    views: readonly RankView[],
    agreement: GroupingAgreement,
    processOf: Int32Array,
  ) {
    this.#exchange = exchange
    this.#step = step
    this.#processOf = processOf
    this.#outside = Array.from({ length: exchange.count }, () => new GrowingInt32Array())
    const search = new GroupSearch(agreement.k - 1)
    for (const view of views) {
      const { rank } = view
      const send = (to: number, message: GroupingMessage) => this.#send(rank, to, message)
      this.#ranks.set(rank, new GroupingRank(view, agreement, search, send))
    }
  }

  async run(): Promise<HostedGrouping> {
    const { me, count } = this.#exchange
    for (const rank of this.#ranks.values()) rank.start()
    this.#settle()
    const others = Array.from({ length: count }, (_, peer) => peer).filter((peer) => peer !== me)
    await Promise.all(others.map((peer) => this.#listen(peer)))
    const ranks = [...this.#ranks.values()]
    return {
      patterns: ranks.map((rank) => rank.pattern()),
      messages: this.#messages,
      waves: wavesOf(ranks),
      framesSent: this.#framesSent,
    }
  }

  #send(from: number, to: number, message: GroupingMessage): void {
    this.#messages[message.kind]++
    const process = this.#processOf[to]
    if (process === this.#exchange.me) {
      this.#inside.push({ from, to, message })
      return
    }
    const { kind, round, wave, ranks } = message
    const words = this.#outside[process]
    words.push(from)
    words.push(to)
    words.push(groupingMessageKinds.indexOf(kind))
    words.push(round)
    words.push(wave)
    words.push(ranks.length)
    words.append(ranks)
  }

  /** Receives from a process until all its ranks are done. */
  async #listen(peer: number): Promise<void> {
    for (;;) {
      const bytes = await this.#exchange.receive(peer, this.#step)
      if (bytes.byteLength === 0) return
      const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2)
      for (let at = 0; at < words.length; ) {
        const [from, to, kind, round, wave, length] = words.subarray(at, at + headWords)
        at += headWords
        const ranks = words.subarray(at, at + length)
        this.#ranks.get(to)!.receive(from, { kind: groupingMessageKinds[kind], round, wave, ranks })
        at += length
      }
      this.#settle()
    }
  }

  /** Delivers all local messages, then sends the frames that result. */
  #settle(): void {
    for (let next = 0; next < this.#inside.length; next++) {
      const { from, to, message } = this.#inside[next]
      this.#ranks.get(to)!.receive(from, message)
    }
    this.#inside = []
    for (const [peer, words] of this.#outside.entries()) {
      if (words.length === 0) continue
      this.#exchange.send(peer, this.#step, bytesOf(words.toArray()))
      words.length = 0
      this.#framesSent++
    }
    if (this.#sentDone) return
    for (const rank of this.#ranks.values()) if (!rank.isDone) return
    this.#sentDone = true
    for (let peer = 0; peer < this.#exchange.count; peer++) {
      if (peer !== this.#exchange.me) this.#exchange.send(peer, this.#step, doneMarker)
    }
  }
}
