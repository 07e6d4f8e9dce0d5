import { indexIn } from '../../base/search.js'
import { partBounds } from '../friends/friend-groups.js'
import type { GroupSearch } from '../friends/group-search.js'
import {
  type GroupingAgreement,
  type GroupingMessage,
  type GroupingMessageKind,
  type RankGroup,
  type RankNeighbors,
  type RankPattern,
  type ServingGroup,
  violation,
} from './grouping-messages.js'
import { isWellFormed, KnownFriends, proposalFault, removalFault, SourceLists } from './round-knowledge.js'

type SendMessage = (to: number, message: GroupingMessage) => void

const none = new Int32Array(0)

/**
 * A rank of the distributed engine. It is a pure state machine that takes and sends messages.
 *
 * Ranks that share enough destinations are friends. In every round a rank proposes its best group to the members; when
 * all of them propose the same group, it is formed. A rank that has a group, or can no longer have one, sends its
 * friends the destinations that it no longer serves itself. They need nothing else to continue. The order of groups is
 * strict and the same for all ranks. So the result is that of the sequential greedy engine, in any order of arrival.
 *
 * A message that is lost, repeated, overtaken or altered mostly contradicts what its receiver knows, which raises
 * ERR_PLAN_MISMATCH. Other such messages are harmless, leave a rank that is not done, or show when plans are compared.
 */
export class GroupingRank {
  readonly #view: RankNeighbors
  readonly #agreement: GroupingAgreement
  readonly #search: GroupSearch
  readonly #send: SendMessage
  readonly #placeOf = new Map<number, number>()
  readonly #sourceLists: SourceLists
  readonly #notices: ServiceNotices
  #friends: KnownFriends | null = null
  #state: 'setup' | 'choosing' | 'waiting' | 'leaving' | 'left' = 'setup'
  #round = -1
  /** The number of friends that have not ended the round. */
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
  /** The messages of later rounds. */
  #later: { from: number; message: GroupingMessage }[] = []
  readonly #groups: RankGroup[] = []
  /** The destinations that no group serves yet. */
  readonly #isDirect: Uint8Array

  /** @param search for groups of k-1; ranks of a process can share it */
  constructor(view: RankNeighbors, agreement: GroupingAgreement, search: GroupSearch, send: SendMessage) {
    this.#view = view
    this.#agreement = agreement
    this.#search = search
    this.#send = send
    this.#isDirect = new Uint8Array(view.destinations.length).fill(1)
    for (const [place, q] of view.destinations.entries()) this.#placeOf.set(q, place)
    this.#sourceLists = new SourceLists(view, this.#placeOf, agreement.ranks)
    this.#notices = new ServiceNotices(view, agreement.k)
  }

  /** Whether the rank expects no more messages. */
  get isDone(): boolean {
    return this.#state === 'left' && this.#notices.areComplete
  }

  /** The waves until the rank decided, by round. */
  readonly waves: number[] = []

  /** Sends the first messages. The caller calls it once, before anything arrives. */
  start(): void {
    const { sources, nodes } = this.#view
    const ranks = nodes === null ? sources : Int32Array.from([...sources, ...nodes.ofSources])
    for (const p of sources) this.#send(p, { kind: 'sources', round: -1, wave: 0, ranks })
    this.#beginIfKnown()
  }

  /** @throws ERR_PLAN_MISMATCH for a message that contradicts what the rank knows */
  receive(from: number, message: GroupingMessage): void {
    if (!isWellFormed(message)) throw this.#violation(from, `a malformed ${message.kind}`)
    switch (message.kind) {
      case 'sources':
        this.#sourceLists.add(from, message.ranks)
        this.#beginIfKnown()
        break
      case 'direct':
      case 'served':
        if (this.#isInRound(from)) throw this.#violation(from, 'the notice of a friend that has not left')
        if (message.kind === 'direct') this.#notices.direct(from)
        else this.#notices.served(from, message.round, message.ranks)
        break
      default:
        if (this.#isEarly(from, message.round)) this.#later.push({ from, message })
        else this.#inRound(from, message)
    }
  }

  /** Whether a message belongs to a later round. A friend is at most one round ahead. */
  #isEarly(from: number, round: number): boolean {
    if (this.#state === 'setup') {
      const place = this.#placeOf.get(from)
      if (round === 0 && (place === undefined || this.#sourceLists.has(place))) return true
    } else if (this.#state !== 'left') {
      if (round === this.#round) return false
      if (round === this.#round + 1 && this.#friends!.indexOf(from) >= 0 && !this.#isInRound(from))
        return true
    }
    throw this.#violation(from, `a message of round ${round} in round ${this.#round}`)
  }

  /**
   * Whether a friend may be in the next round. It continues once it has ended the round, or is grouped with this rank,
   * which then has its proposal.
   */
  #mayBeAhead(friend: number): boolean {
    const { unavailable } = this.#friends!
    const request = this.#requests.get(friend)
    return unavailable[friend] !== 0 || (request !== undefined && sameRanks(request.ranks, this.#members))
  }

  /** Whether a rank is a friend that has not ended the round. */
  #isInRound(rank: number): boolean {
    const friend = this.#friends?.indexOf(rank) ?? -1
    return friend >= 0 && this.#state !== 'left' && !this.#mayBeAhead(friend)
  }

  #violation(from: number, what: string): Error {
    return violation(this.#view.rank, from, what)
  }

  /** @throws ERR_PLAN_MISMATCH before the rank is done: it waits for a message that was lost */
  pattern(): RankPattern {
    const { rank } = this.#view
    if (!this.isDone || this.#later.length > 0)
      throw violation(rank, rank, 'a message is missing, no more come')
    return {
      rank: this.#view.rank,
      groups: this.#groups,
      direct: this.#direct(),
      directSources: this.#notices.directSources,
      servedBy: this.#notices.servingGroups(),
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
    if (!this.#sourceLists.areComplete) return
    const { theta } = this.#agreement
    const shared = this.#sourceLists.takeShared(theta)
    this.#friends = new KnownFriends(
      this.#view.destinations,
      this.orderFriends([...shared.keys()]).map((f) => [f, shared.get(f)!]),
      theta,
    )
    for (const friend of this.#friends.rank) {
      if (this.#notices.hasNotice(friend)) throw this.#violation(friend, 'the notice of a friend, too early')
    }
    this.#nextRound()
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
    const { kind, ranks, wave } = message
    const friends = this.#friends!
    const friend = friends.indexOf(from)
    if (friend < 0) throw this.#violation(from, `${kind}, expected of a friend,`)
    if (friends.unavailable[friend] !== 0) throw this.#violation(from, `${kind} after the end of its round`)
    const fault = this.#faultOf(friend, message)
    if (fault !== null) throw this.#violation(from, fault)
    if (kind === 'request') {
      this.#requests.set(friend, message)
      this.#groupIfAgreed()
      return
    }
    this.#open--
    friends.unavailable[friend] = 1
    this.#endedIn = Math.max(this.#endedIn, wave)
    if (kind === 'bye') this.#leavers.add(friend)
    else this.#removals.set(friend, ranks)
    if (this.#state !== 'choosing' || !this.#candidate.includes(friend)) return
    if (this.#choose()) return
    this.#decide()
    this.#notifyFriends('end', none, none)
  }

  #faultOf(friend: number, { kind, ranks }: GroupingMessage): string | null {
    const known = { ...this.#agreement, rank: this.#view.rank, friends: this.#friends! }
    const proposed = this.#requests.get(friend)?.ranks
    const isGrouped = this.#state === 'waiting' && this.#groups.at(-1)?.step === this.#round
    if (isGrouped && this.#candidate.includes(friend)) return `${kind} of a member of the same group`
    if (kind === 'request') return proposalFault(known, friend, ranks, proposed)
    if (kind === 'bye') return ranks.length > 0 || proposed !== undefined ? 'bye after a proposal' : null
    const places = this.#places(ranks).filter((place) => this.#isDirect[place] !== 0)
    return removalFault(known, friend, ranks, places)
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

  /** Whether every friend has ended the round, so that another begins. */
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
}

function sameRanks(a: Int32Array, b: Int32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return a.length === b.length
}

/**
 * Collects which sources send to a rank directly, and which groups serve it. Each source gives notice once, as its last
 * message.
 */
class ServiceNotices {
  readonly #rank: number
  readonly #sources: Int32Array
  readonly #k: number
  readonly #hasGiven: Uint8Array
  readonly #direct: number[] = []
  readonly #served: { readonly step: number; readonly member: number; readonly holder: number }[] = []

  constructor({ rank, sources }: RankNeighbors, k: number) {
    this.#rank = rank
    this.#sources = sources
    this.#k = k
    this.#hasGiven = new Uint8Array(sources.length)
  }

  get areComplete(): boolean {
    return this.#direct.length + this.#served.length === this.#sources.length
  }

  /** The sources that send directly, ascending. */
  get directSources(): Int32Array {
    return Int32Array.from(this.#direct).sort()
  }

  hasNotice(source: number): boolean {
    const at = indexIn(this.#sources, source)
    return at >= 0 && this.#hasGiven[at] !== 0
  }

  /** @throws ERR_PLAN_MISMATCH for a second notice, and one from a rank that is not a source */
  direct(from: number): void {
    this.#notice(from)
    this.#direct.push(from)
  }

  /** @throws ERR_PLAN_MISMATCH as {@link direct}, and for an impossible holder or step */
  served(from: number, step: number, ranks: Int32Array): void {
    if (step < 0 || ranks.length !== 1 || indexIn(this.#sources, ranks[0]) < 0)
      throw violation(this.#rank, from, 'a group that cannot serve the rank')
    this.#notice(from)
    this.#served.push({ step, member: from, holder: ranks[0] })
  }

  #notice(from: number): void {
    const at = indexIn(this.#sources, from)
    if (at < 0) throw violation(this.#rank, from, 'the notice of a destination, expected of a source')
    if (this.#hasGiven[at] !== 0) throw violation(this.#rank, from, 'a second notice')
    this.#hasGiven[at] = 1
  }

  /**
   * Returns the groups that serve the rank, by step, then members. Members of one group name the same step and holder;
   * those of different groups do not.
   *
   * @throws ERR_PLAN_MISMATCH when members do not form whole groups with their holder
   */
  servingGroups(): ServingGroup[] {
    const k = this.#k
    const entries = this.#served.sort((a, b) => a.step - b.step || a.holder - b.holder || a.member - b.member)
    const groups: ServingGroup[] = []
    for (let i = 0; i < entries.length; i += k) {
      const { step, holder, member } = entries[i]
      const group = entries.slice(i, i + k)
      const isWhole =
        group.length === k && group.every((entry) => entry.step === step && entry.holder === holder)
      const members = Int32Array.from(group, (entry) => entry.member)
      if (!isWhole || !members.includes(holder))
        throw violation(this.#rank, member, `part of a group of ${k} that serves by rank ${holder}`)
      groups.push({ step, members, holder })
    }
    return groups.sort((a, b) => a.step - b.step || a.members[0] - b.members[0])
  }
}
