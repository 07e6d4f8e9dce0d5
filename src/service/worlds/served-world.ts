import type { Clock } from '../../base/clock.js'
import type { WorldEvent, WorldInfo } from '../../client/protocol/worlds.js'
import { RankweaveError } from '../../errors.js'
import type { Communicator } from '../../handles/communicator.js'
import { endedError, toCallError } from './decode-request.js'
import type { MemberWorld, ServedMember } from './served-member.js'
import { CommunicatorTree, listBudget } from './served-member.js'
import type { WaitingMessages, WorldHost } from './world-host.js'

interface ServedWorldOptions {
  readonly id: string
  readonly name: string | null
  readonly members: number
  readonly host: WorldHost
  /** The clock by which clients that were behind learn of departures. */
  readonly clock: Clock
  /** Reports that its `info` has changed. */
  readonly onChange: () => void
  /** Reports that it is over, or was discarded before it began. @param error what ended it; undefined if nothing did */
  readonly onEnd: (error: unknown) => void
}

/**
 * A world whose members drive their ranks by requests. It waits for all of them, runs, and ends when each has left or
 * is lost. Memory: the state of its members, and one process of its fabric for each; departures once for all members,
 * whatever their clients have not read.
 */
export class ServedWorld implements MemberWorld {
  readonly tree = new CommunicatorTree()
  readonly #options: ServedWorldOptions
  readonly #createdAt = new Date().toISOString()
  readonly #waiting = new Set<ServedMember>()
  /** The members by world rank, once all have joined. */
  #members: readonly ServedMember[] = []
  /** The sockets that keep a world that waits. */
  readonly #creators = new Set<object>()
  /** The departed ranks of a world that runs, those of programs too. */
  readonly #departures: Departures
  /** The start that counts: an abandoned one reports nothing. */
  #start: object | undefined
  /** The state. While it is starting, all members have joined, and the host waits for what else it needs. */
  #state: 'waiting' | 'starting' | 'running' | 'ended' = 'waiting'

  constructor(options: ServedWorldOptions) {
    this.#options = options
    this.#departures = new Departures(options.clock, () => this.#members)
  }

  get id(): string {
    return this.#options.id
  }

  get name(): string | null {
    return this.#options.name
  }

  get size(): number {
    return this.#options.members
  }

  get joined(): number {
    return this.#state === 'waiting' ? this.#waiting.size : this.size
  }

  /** The token with which programs join it; null: it has none. */
  get token(): string | null {
    return this.#options.host.programs?.token ?? null
  }

  /** The messages that programs have sent to its members. */
  get waiting(): WaitingMessages {
    return this.#options.host.waiting()
  }

  /** Keeps the world while the socket that made it exists. */
  keep(creator: object): void {
    this.#creators.add(creator)
  }

  /** Ends that, because the socket is gone. */
  unkeep(creator: object): void {
    if (this.#creators.delete(creator)) this.#discardIfUnwanted()
  }

  /** @throws ERR_WORLD_FULL when all members have joined */
  join(member: ServedMember): void {
    if (this.#state !== 'waiting') {
      throw new RankweaveError('ERR_WORLD_FULL', `all ${this.size} members of ${this.id} have joined`)
    }
    this.#waiting.add(member)
    this.changed()
  }

  beginIfComplete(): void {
    if (this.#state === 'waiting' && this.#waiting.size === this.size) this.#begin()
  }

  addressOf(worldRank: number): string | null {
    return this.#members[worldRank]?.address ?? null
  }

  /** Notes that a member has left, or is lost; the others learn it. */
  depart(member: ServedMember, state: 'left' | 'lost', reason: string): void {
    if (member.state === 'waiting') {
      member.state = state
      if (!this.#waiting.has(member)) return
      if (this.#state === 'starting') {
        // It is too late to abandon the start: the member is lost as soon as the world has begun.
        if (!this.#options.host.abandon()) return
        this.#state = 'waiting'
        this.#members = []
        this.#start = undefined
      }
      this.#waiting.delete(member)
      member.end(state)
      this.changed()
      this.#discardIfUnwanted()
      return
    }
    if (member.state !== 'running') return
    const { worldRank } = member
    if (state === 'lost') this.#options.host.lose(worldRank, reason)
    member.end(state)
    if (state === 'left') this.#options.host.leave(worldRank)
    this.#departs(worldRank, state, reason)
  }

  /** Ends it in any state of its members. */
  close(reason: string): void {
    this.#options.host.fail(reason)
    // Members learn it at once: their sockets may close next.
    this.#ended(new RankweaveError('ERR_WORLD_ENDED', reason))
  }

  changed(): void {
    if (this.#state !== 'ended') this.#options.onChange()
  }

  /** @param budget the number of its communicators that it may list */
  info(budget = listBudget()): WorldInfo {
    const { id, name, members } = this.#options
    return {
      ...{ id, name, members, createdAt: this.#createdAt, joined: this.joined },
      programs: this.#options.host.programs?.count ?? 0,
      state: this.#state === 'running' ? 'running' : 'waiting',
      left: this.#departures.ranks('left'),
      lost: this.#departures.ranks('lost'),
      ...this.tree.list(budget),
    }
  }

  #begin(): void {
    this.#state = 'starting'
    this.#members = [...this.#waiting]
    const start = {}
    this.#start = start
    this.#options.host
      .run(
        (world) => this.#beginRank(world),
        (worldRank, reason) => this.#departs(worldRank, 'lost', reason),
      )
      .then(
        () => this.#ended(undefined),
        (error: unknown) => {
          if (this.#start === start) this.#ended(error)
        },
      )
  }

  /** @returns when the member has left, or is lost */
  #beginRank(world: Communicator): Promise<void> {
    // The world was closed while its processes were started.
    if (this.#state === 'ended') return Promise.resolve()
    this.#state = 'running'
    this.#waiting.clear()
    this.#creators.clear()
    const { rank, size } = world
    const member = this.#members[rank]
    const isGone = member.state !== 'waiting'
    const left = member.begin(world)
    if (isGone) {
      // Its process exists now, and can be lost.
      queueMicrotask(() => this.depart(member, 'lost', 'it went before the world began'))
      return left
    }
    member.client.send({ event: 'begun', world: this.id, rank, size, comm: 'world' })
    // Other members may have begun before it, and be gone.
    this.#departures.tell()
    return left
  }

  #departs(rank: number, state: 'left' | 'lost', reason: string): void {
    const event = { event: 'member', world: this.id, rank, state, reason } as const
    this.#departures.add(event)
    this.changed()
  }

  #discardIfUnwanted(): void {
    if (this.#state === 'waiting' && this.#waiting.size === 0 && this.#creators.size === 0) {
      this.#options.host.fail('no member waits for it')
      this.#ended(undefined)
    }
  }

  #ended(error: unknown): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#departures.stop()
    const told = toCallError(endedError(error ?? 'it is over'))
    for (const member of [...this.#members, ...this.#waiting]) {
      if (member.state !== 'running' && member.state !== 'waiting') continue
      member.end('lost')
      member.client.send({ event: 'ended', world: this.id, error: told })
    }
    this.#waiting.clear()
    this.#options.onEnd(error)
  }
}

type Departure = WorldEvent<'member'>

/** The milliseconds of a window, and the most events that are sent in it. */
const [windowMs, windowEvents] = [20, 2048]
/** A client with so many unread bytes receives no further events until it has read some. */
const mostUnread = 4096

/**
 * The departed ranks of a world, and how many of them each member knows. Members that are still present learn of each;
 * if many leave at once, most are gone before they would learn of the others. Memory: that of the departures, once for
 * all members.
 */
export class Departures {
  readonly #clock: Clock
  readonly #members: () => readonly ServedMember[]
  readonly #all: Departure[] = []
  /** The number of departures that each member has received, by world rank. */
  readonly #sent: number[] = []
  /** The member that receives events first. */
  #first = 0
  /** The events that may still be sent in this window. */
  #left = windowEvents
  /** Whether a running member does not know all of them. */
  #isBehind = false
  #cancel: (() => void) | undefined

  /** @param members by world rank, once all have joined */
  constructor(clock: Clock, members: () => readonly ServedMember[]) {
    this.#clock = clock
    this.#members = members
  }

  /** Returns world ranks that have left, or are lost, ascending. */
  ranks(of: Departure['state']): number[] {
    const gone = this.#all.filter(({ state }) => state === of)
    return gone.map(({ rank }) => rank).sort((a, b) => a - b)
  }

  add(departure: Departure): void {
    this.#all.push(departure)
    this.tell()
  }

  /** Tells running members the departures that they do not know, now or in later windows. */
  tell(): void {
    if (this.#all.length === 0) return
    const members = this.#members()
    const { length } = members
    let n = 0
    for (; n < length && this.#left > 0; n++)
      this.#tellOne(members[(this.#first + n) % length], (this.#first + n) % length)
    this.#first = (this.#first + n) % length
    if (this.#left === 0) this.#isBehind = true
    this.#cancel ??= this.#clock.later(windowMs, () => {
      this.#cancel = undefined
      this.#left = windowEvents
      if (!this.#isBehind) return
      this.#isBehind = false
      this.tell()
    })
  }

  stop(): void {
    this.#cancel?.()
  }

  #tellOne({ state, client }: ServedMember, worldRank: number): void {
    if (state !== 'running') return
    for (let told = this.#sent[worldRank] ?? 0; told < this.#all.length; this.#sent[worldRank] = ++told) {
      if (this.#left === 0 || client.unreadBytes > mostUnread) {
        this.#isBehind = true
        return
      }
      this.#left--
      client.send(this.#all[told])
    }
  }
}
