import { bytesOf, wordsOf } from '../../base/bytes.js'
import { GrowingInt32Array } from '../../base/growing-array.js'
import { hashIntegers } from '../../base/hash.js'
import { getOrAdd } from '../../base/maps.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import { GroupSearch } from '../../topology/friends/group-search.js'
import { wavesOf } from '../../topology/grouping/group-by-messages.js'
import {
  type GroupingAgreement,
  type GroupingMessage,
  type GroupingMessages,
  groupingMessageKinds,
  noMessages,
  type RankNeighbors,
  type RankPattern,
} from '../../topology/grouping/grouping-messages.js'
import { GroupingRank } from '../../topology/grouping/grouping-rank.js'
import type { RankHosts } from './hosted-lists.js'

export interface HostedGrouping {
  /** The patterns of the hosted ranks, in their order; null after a failure of this process or another. */
  readonly patterns: readonly RankPattern[] | null
  /** The messages that the hosted ranks sent, also to each other. */
  readonly messages: GroupingMessages
  /** The waves of each round, over the hosted ranks. */
  readonly waves: readonly number[]
  /** ERR_PLAN_MISMATCH when a message or frame contradicted what this process knows. */
  readonly failure: RankweaveError | null
}

/** The number of words of a message before its ranks: from, to, kind, round, wave, number of ranks. */
const headWords = 6
/**
 * The number of words of a frame before its messages: its number among those to the same process, and a hash of its
 * messages.
 */
const frameWords = 2
/** The only word of a last frame: whether its process has failed, or has heard of a failed one. */
const lastFrame = { done: 0, failed: 1 } as const

/**
 * Groups the ranks of a process with those of the other processes. Messages between ranks of the process are delivered
 * directly; those to other processes are collected into a frame per process until no local message is left.
 *
 * The last frame to every process has no messages, but reports whether the ranks here are done or one has failed. So a
 * failure reaches every process, none waits for messages that no rank will send, and no frame is left in the end.
 *
 * Grouping finds friends on the way. Messages to ranks whose process is not known wait until it has been looked up.
 * Ranks that come up in the meantime are looked up together.
 *
 * @param hosts know the ranks here and their neighbors; learn their friends
 * @param step the step of the exchange that only this uses
 */
export function groupHostedRanks(
  exchange: Exchange,
  step: number,
  views: readonly RankNeighbors[],
  agreement: GroupingAgreement,
  hosts: RankHosts,
): Promise<HostedGrouping> {
  return new HostedRanks(exchange, step, views, agreement, hosts).run()
}

interface Addressed {
  readonly from: number
  readonly to: number
  readonly message: GroupingMessage
}

class HostedRanks {
  readonly #exchange: Exchange
  readonly #step: number
  readonly #hosts: RankHosts
  readonly #ranks = new Map<number, GroupingRank>()
  readonly #messages = noMessages()
  /** The messages between ranks of this process, in the order of sending. */
  #inside: Addressed[] = []
  /** The messages to ranks that have yet to be looked up, by rank, in the order of sending. */
  readonly #unlocated = new Map<number, Addressed[]>()
  #isLocating = false
  #failLocating: (error: unknown) => void = () => {}
  /** The words for every process that one of these ranks has sent to. */
  readonly #outside = new Map<number, GrowingInt32Array>()
  readonly #framesTo: Int32Array
  #hasEnded = false
  #failure: RankweaveError | null = null
  /** Whether this process or another has failed; only last frames are sent from then on. */
  #isStopped = false

  constructor(
    exchange: Exchange,
    step: number,
    views: readonly RankNeighbors[],
    agreement: GroupingAgreement,
    hosts: RankHosts,
  ) {
    this.#exchange = exchange
    this.#step = step
    this.#hosts = hosts
    this.#framesTo = new Int32Array(exchange.count)
    const search = new GroupSearch(agreement.k - 1)
    for (const view of views) {
      const { rank } = view
      const send = (to: number, message: GroupingMessage) => this.#send(rank, to, message)
      this.#ranks.set(rank, new GroupingRank(view, agreement, search, send))
    }
  }

  async run(): Promise<HostedGrouping> {
    const { me, count } = this.#exchange
    const failedLookUp = new Promise<never>((_, reject) => {
      this.#failLocating = reject
    })
    this.#attempt(() => {
      for (const rank of this.#ranks.values()) rank.start()
    })
    this.#settle()
    const others = Array.from({ length: count }, (_, peer) => peer).filter((peer) => peer !== me)
    await Promise.race([Promise.all(others.map((peer) => this.#listen(peer))), failedLookUp])
    const ranks = [...this.#ranks.values()]
    let patterns: readonly RankPattern[] | null = null
    this.#attempt(() => {
      patterns = ranks.map((rank) => rank.pattern())
    })
    return { patterns, messages: this.#messages, waves: wavesOf(ranks), failure: this.#failure }
  }

  #send(from: number, to: number, message: GroupingMessage): void {
    this.#messages[message.kind]++
    const addressed = { from, to, message }
    const waiting = this.#unlocated.get(to)
    const process = this.#hosts.find(to)
    if (waiting !== undefined) waiting.push(addressed)
    else if (process === undefined) this.#unlocated.set(to, [addressed])
    else if (process === this.#exchange.me) this.#inside.push(addressed)
    else this.#append(process, addressed)
  }

  #append(process: number, { from, to, message }: Addressed): void {
    const { kind, round, wave, ranks } = message
    const words = getOrAdd(this.#outside, process, () => new GrowingInt32Array())
    // A frame begins with its number and hash, which are written when it is sent.
    if (words.length === 0) for (let i = 0; i < frameWords; i++) words.push(0)
    words.push(from)
    words.push(to)
    words.push(groupingMessageKinds.indexOf(kind))
    words.push(round)
    words.push(wave)
    words.push(ranks.length)
    words.append(ranks)
  }

  /** Receives from a process until its last message. Messages that arrive after a failure are discarded. */
  async #listen(peer: number): Promise<void> {
    for (let expected = 0; ; expected++) {
      const words = wordsOf(await this.#exchange.receive(peer, this.#step))
      this.#attempt(() => {
        if (words[0] !== expected || words[1] !== hashOf(words)) {
          throw new RankweaveError(
            'ERR_PLAN_MISMATCH',
            `planning: expected frame ${expected} of process ${peer}, unaltered, got frame ${words[0]}`,
            { details: { process: this.#exchange.me, peer } },
          )
        }
        if (words.length >= frameWords + headWords) this.#take(peer, words)
        else if (words[frameWords] === lastFrame.failed) this.#isStopped = true
      })
      this.#settle()
      if (words.length < frameWords + headWords) return
    }
  }

  /** Hands the messages of a frame to their ranks. */
  #take(peer: number, words: Int32Array): void {
    for (let at = frameWords; at < words.length; ) {
      const [from, to, kind, round, wave, length] = words.subarray(at, at + headWords)
      at += headWords
      const ranks = words.subarray(at, at + length)
      const receiver = this.#ranks.get(to)
      if (receiver === undefined || (this.#hosts.find(from) ?? peer) !== peer) {
        const message = `planning: expected messages from ranks of process ${peer} to ranks of this one, got one from ${from} to ${to}`
        throw new RankweaveError('ERR_PLAN_MISMATCH', message)
      }
      receiver.receive(from, { kind: groupingMessageKinds[kind], round, wave, ranks })
      at += length
    }
  }

  /** Delivers all local messages, then sends the frames that result. */
  #settle(): void {
    this.#attempt(() => {
      for (let next = 0; next < this.#inside.length; next++) {
        const { from, to, message } = this.#inside[next]
        this.#ranks.get(to)!.receive(from, message)
      }
    })
    this.#inside = []
    if (this.#hasEnded) return
    for (const [peer, words] of this.#outside) {
      if (words.length === 0) continue
      this.#sendFrame(peer, words.toArray())
      words.length = 0
    }
    if (!this.#isStopped) {
      if (this.#unlocated.size > 0) {
        this.#locate()
        return
      }
      for (const rank of this.#ranks.values()) if (!rank.isDone) return
    }
    this.#end()
  }

  /** Looks up the ranks that messages wait for. A look-up in progress continues with them. */
  #locate(): void {
    if (this.#isLocating) return
    this.#isLocating = true
    const ranks = Int32Array.from(this.#unlocated.keys())
    const located = () => {
      this.#isLocating = false
      for (const rank of ranks) {
        const waiting = this.#unlocated.get(rank)!
        this.#unlocated.delete(rank)
        for (const addressed of waiting) this.#append(this.#hosts.find(rank)!, addressed)
      }
      this.#settle()
    }
    this.#hosts.learn(ranks).then(located).catch(this.#failLocating)
  }

  #end(): void {
    this.#hasEnded = true
    const last = this.#isStopped ? lastFrame.failed : lastFrame.done
    for (let peer = 0; peer < this.#exchange.count; peer++) {
      if (peer !== this.#exchange.me) this.#sendFrame(peer, Int32Array.of(0, 0, last))
    }
  }

  #sendFrame(peer: number, words: Int32Array): void {
    words[0] = this.#framesTo[peer]++
    words[1] = hashOf(words)
    this.#exchange.send(peer, this.#step, bytesOf(words))
  }

  /** Runs an action unless a process has failed, and records its failure. */
  #attempt(action: () => void): void {
    if (this.#isStopped) return
    try {
      action()
    } catch (error) {
      if (!isRankweaveError(error)) throw error
      this.#failure = error
      this.#isStopped = true
    }
  }
}

/** Hashes the number of a frame and its messages. */
function hashOf(words: Int32Array): number {
  return hashIntegers(words, frameWords, hashIntegers([words[0]]))
}
