import type { Clock } from '../../base/clock.js'
import type { WorldEvent } from '../../client/protocol/world-events.js'
import type { ServedMember } from './served-member.js'

type Departure = WorldEvent<'member'>

/** The milliseconds of a window, and the most events that are sent in it. */
const [windowMs, windowEvents] = [20, 2048]
/** The unread bytes from which on a client is sent no more. */
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
  /** The number of them that a member has been told of, by world rank. */
  readonly #told: number[] = []
  /** The member that is told first. */
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
    for (let told = this.#told[worldRank] ?? 0; told < this.#all.length; this.#told[worldRank] = ++told) {
      if (this.#left === 0 || client.unreadBytes > mostUnread) {
        this.#isBehind = true
        return
      }
      this.#left--
      client.send(this.#all[told])
    }
  }
}
