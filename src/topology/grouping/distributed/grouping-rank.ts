import { partBounds } from '../../friends/friend-groups.js'
import type { GroupSearch } from '../../friends/group-search.js'
import { KnownFriends } from './known-friends.js'
import type {
  GroupingMessage,
  GroupingMessageKind,
  RankGroup,
  RankPattern,
  RankView,
  ServingGroup,
} from './rank-view.js'

/** What all ranks agree on before grouping. */
export interface GroupingAgreement {
  readonly k: number
  readonly theta: number
  /** Breaks ties: a permutation of the ranks, or null for the ranks themselves. */
  readonly labels: Int32Array | null
}

export type SendMessage = (to: number, message: GroupingMessage) => void

const none = new Int32Array(0)

/**
 * One rank of the distributed engine: a pure state machine that takes messages and sends messages.
 *
 * Ranks that share enough destinations are friends. In every round a rank proposes its best group to the members; when
 * all of them propose the same group, it is formed. A rank that has a group, or can have none any more, sends its
 * friends the destinations that it no longer serves itself, which is all that they need to continue. The order of groups
 * is strict and the same for all ranks, so the result is that of the sequential greedy engine in any order of arrival.
 */
export class GroupingRank {
  readonly #view: RankView
  readonly #agreement: GroupingAgreement
  readonly #search: GroupSearch
  readonly #send: SendMessage
  readonly #placeOf = new Map<number, number>()
  readonly #sourcesOf: (GroupingMessage & { readonly from: number })[] = []
  #friends: KnownFriends | null = null
  #state: 'setup' | 'choosing' | 'waiting' | 'leaving' | 'left' = 'setup'
  #round = -1
  /** Friends that have not ended the round. */
  #open = 0
  /** The group proposed: indices of friends, and the ranks of its members. */
  #candidate: Int32Array = none
  #members: Int32Array = none
  #wave = 0
  /** The last wave in which a friend ended the round. */
  #endedIn = 0
  readonly #requests = new Map<number, GroupingMessage>()
  readonly #removals = new Map<number, Int32Array>()
  readonly #leavers = new Set<number>()
  /** Messages of later rounds. */
  #later: { from: number; message: GroupingMessage }[] = []
  readonly #groups: RankGroup[] = []
  /** Destinations that no group serves yet. */
  readonly #isDirect: Uint8Array
  readonly #directSources: number[] = []
  readonly #servedBy: { step: number; member: number; holder: number }[] = []

  /** @param search for groups of k-1; ranks of a process can share it */
  constructor(view: RankView, agreement: GroupingAgreement, search: GroupSearch, send: SendMessage) {
    this.#view = view
    this.#agreement = agreement
    this.#search = search
    this.#send = send
    this.#isDirect = new Uint8Array(view.destinations.length).fill(1)
    for (const [place, q] of view.destinations.entries()) this.#placeOf.set(q, place)
  }

  /** Whether the rank expects no more messages. */
  get isDone(): boolean {
    const { sources } = this.#view
    return this.#state === 'left' && this.#directSources.length + this.#servedBy.length === sources.length
  }

  /** Rounds the rank took part in. */
  get rounds(): number {
    return this.#round + (this.#state === 'left' ? 0 : 1)
  }

  /** Waves until the rank decided, by round. */
  readonly waves: number[] = []

  /** Messages that wait for a later round; none in the end. */
  get waitingMessages(): number {
    return this.#later.length
  }

  /** To be called once, before anything arrives. */
  start(): void {
    const { sources, nodes } = this.#view
    const ranks = nodes === null ? sources : Int32Array.from([...sources, ...nodes.ofSources])
    for (const p of sources) this.#send(p, { kind: 'sources', round: -1, wave: 0, ranks })
    this.#beginIfKnown()
  }

  receive(from: number, message: GroupingMessage): void {
    switch (message.kind) {
      case 'sources':
        this.#sourcesOf.push({ from, ...message })
        this.#beginIfKnown()
        break
      case 'direct':
        this.#directSources.push(from)
        break
      case 'served':
        this.#servedBy.push({ step: message.round, member: from, holder: message.ranks[0] })
        break
      default:
        if (this.#state === 'setup' || message.round > this.#round) this.#later.push({ from, message })
        else this.#inRound(from, message)
    }
  }

  /** @throws Error before the rank is done */
  pattern(): RankPattern {
    if (!this.isDone) throw new Error(`rank ${this.#view.rank} is not done`)
    return {
      rank: this.#view.rank,
      groups: this.#groups,
      direct: this.#direct(),
      directSources: Int32Array.from(this.#directSources).sort(),
      servedBy: this.#servingGroups(),
    }
  }

  /** Orders equally heavy groups. Strict and the same for all ranks: otherwise they wait for each other. */
  protected orderFriends(friends: number[]): number[] {
    const { labels } = this.#agreement
    return friends.sort(labels === null ? (a, b) => a - b : (a, b) => labels[a] - labels[b])
  }

  /** A friend's group serves these destinations, so the friend no longer shares them. */
  protected applyRemoval(friends: KnownFriends, friend: number, removed: Int32Array): void {
    friends.removeFrom(friend, this.#places(removed))
  }

  #places(destinations: Int32Array): number[] {
    const places: number[] = []
    for (const q of destinations) {
      const place = this.#placeOf.get(q)
      if (place !== undefined) places.push(place)
    }
    return places
  }

  #beginIfKnown(): void {
    if (this.#sourcesOf.length < this.#view.destinations.length) return
    this.#friends = this.#findFriends()
    this.#sourcesOf.length = 0
    this.#nextRound()
  }

  #findFriends(): KnownFriends {
    const { rank, nodes } = this.#view
    const places = new Map<number, number[]>()
    for (const { from, ranks } of this.#sourcesOf) {
      const place = this.#placeOf.get(from)!
      const count = nodes === null ? ranks.length : ranks.length / 2
      for (let i = 0; i < count; i++) {
        const f = ranks[i]
        if (f === rank || (nodes !== null && ranks[count + i] !== nodes.own)) continue
        const shared = places.get(f)
        if (shared === undefined) places.set(f, [place])
        else shared.push(place)
      }
    }
    const { theta } = this.#agreement
    const friends = [...places.keys()].filter((f) => places.get(f)!.length > theta)
    return new KnownFriends(
      this.#view.destinations,
      this.orderFriends(friends).map((f) => [f, places.get(f)!]),
      theta,
    )
  }

  #nextRound(): void {
    const friends = this.#friends!
    do {
      this.#round++
      friends.settle((friend) => this.#leavers.has(friend))
      this.#requests.clear()
      this.#removals.clear()
      this.#leavers.clear()
      this.#open = friends.count
      this.#wave = 0
      this.#endedIn = 0
      this.#state = 'choosing'
      if (!this.#choose()) {
        this.#state = 'leaving'
        this.#notifyFriends('bye', none, none)
      }
      const arrived = this.#later
      this.#later = []
      for (const { from, message } of arrived) {
        if (message.round > this.#round) this.#later.push({ from, message })
        else this.#handle(from, message)
      }
    } while (this.#endRound())
  }

  #inRound(from: number, message: GroupingMessage): void {
    this.#handle(from, message)
    if (this.#endRound()) this.#nextRound()
  }

  #handle(from: number, message: GroupingMessage): void {
    const friends = this.#friends!
    const friend = friends.indexOf(from)
    if (friend < 0)
      throw new Error(`rank ${this.#view.rank}: ${message.kind} from ${from}, which is not a friend`)
    if (message.kind === 'request') {
      this.#requests.set(friend, message)
      this.#groupIfAgreed()
      return
    }
    this.#open--
    friends.unavailable[friend] = 1
    this.#endedIn = Math.max(this.#endedIn, message.wave)
    if (message.kind === 'bye') this.#leavers.add(friend)
    else this.#removals.set(friend, message.ranks)
    if (this.#state !== 'choosing' || !this.#candidate.includes(friend)) return
    if (this.#choose()) return
    this.#decide()
    this.#notifyFriends('end', none, none)
  }

  #decide(): void {
    this.#state = 'waiting'
    this.waves[this.#round] = this.#wave
  }

  /** Proposes the best group that is left to its members. False when there is none. */
  #choose(): boolean {
    const friends = this.#friends!
    const best = friends.best(this.#search)
    if (best === null) return false
    this.#wave = this.#endedIn + 1
    this.#candidate = best
    this.#members = Int32Array.from([this.#view.rank, ...Array.from(best, (i) => friends.rank[i])]).sort()
    for (const i of best) {
      this.#send(friends.rank[i], this.#message('request', this.#members))
    }
    this.#groupIfAgreed()
    return true
  }

  #groupIfAgreed(): void {
    if (this.#state !== 'choosing') return
    for (const friend of this.#candidate) {
      const request = this.#requests.get(friend)
      if (request === undefined || !sameRanks(request.ranks, this.#members)) return
    }
    for (const friend of this.#candidate) {
      this.#wave = Math.max(this.#wave, this.#requests.get(friend)!.wave)
    }
    this.#decide()
    const friends = this.#friends!
    const common = friends.common(this.#candidate)
    this.#groups.push({ step: this.#round, members: this.#members, common })
    // Members know it without a message, and send none.
    this.#open -= this.#candidate.length
    this.#notifyFriends('end', common, this.#candidate)
  }

  #message(kind: GroupingMessageKind, ranks: Int32Array): GroupingMessage {
    return { kind, round: this.#round, wave: this.#wave, ranks }
  }

  #notifyFriends(kind: GroupingMessageKind, ranks: Int32Array, except: Int32Array): void {
    const friends = this.#friends!
    const message = this.#message(kind, ranks)
    for (let i = 0; i < friends.count; i++) {
      if (!except.includes(i)) this.#send(friends.rank[i], message)
    }
  }

  /** True when every friend has ended the round and another begins. */
  #endRound(): boolean {
    if (this.#open > 0) return false
    if (this.#state === 'leaving') {
      this.#leave()
      return false
    }
    if (this.#state !== 'waiting') return false
    const friends = this.#friends!
    for (const [friend, removed] of this.#removals) this.applyRemoval(friends, friend, removed)
    const last = this.#groups.at(-1)
    if (last?.step === this.#round) {
      const places = this.#places(last.common)
      for (const place of places) this.#isDirect[place] = 0
      for (let i = 0; i < friends.count; i++) friends.removeFrom(i, places)
    }
    return true
  }

  #leave(): void {
    this.#state = 'left'
    for (const q of this.#direct()) this.#send(q, { kind: 'direct', round: -1, wave: 0, ranks: none })
    const { k } = this.#agreement
    for (const { step, members, common } of this.#groups) {
      for (let i = 0; i < k; i++) {
        const [from, to] = partBounds(common.length, k, i)
        const holder = members.subarray(i, i + 1)
        const message: GroupingMessage = { kind: 'served', round: step, wave: 0, ranks: holder }
        for (let c = from; c < to; c++) this.#send(common[c], message)
      }
    }
  }

  #direct(): Int32Array {
    return this.#view.destinations.filter((_, place) => this.#isDirect[place] !== 0)
  }

  /** Members of one group name the same step and holder; those of different groups do not. */
  #servingGroups(): ServingGroup[] {
    const entries = this.#servedBy.sort(
      (a, b) => a.step - b.step || a.holder - b.holder || a.member - b.member,
    )
    const groups: ServingGroup[] = []
    for (let i = 0; i < entries.length; i += this.#agreement.k) {
      const { step, holder } = entries[i]
      const members = Int32Array.from(entries.slice(i, i + this.#agreement.k), ({ member }) => member)
      groups.push({ step, members, holder })
    }
    return groups.sort((a, b) => a.step - b.step || a.members[0] - b.members[0])
  }
}

function sameRanks(a: Int32Array, b: Int32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return a.length === b.length
}
