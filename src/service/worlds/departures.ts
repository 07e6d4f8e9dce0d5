import type { Clock } from '../../base/clock.js'
import type { WorldEvent } from '../../client/protocol/world-events.js'
import type { ServedMember } from './served-member.js'

type Departure = WorldEvent<'member'>

/** Milliseconds, and events that are sent in them at most. */
const [windowMs, windowEvents] = [20, 2048]
/** A client that has not read so many bytes is sent no more. */
const mostUnread = 4096

/**
 * Ranks of a world that are gone, and who of its members has been told. Members that are still there are told each; where
 * many leave at once, most are gone before they would be told of the others.
 *
 * Memory: that of the departures, once for all members.
 */
export class Departures {
  readonly #clock: Clock
  readonly #members: () => readonly ServedMember[]
  readonly #all: Departure[] = []
  /** By world rank: how many of them a member has been told of. */
  readonly #told: number[] = []
  /** The member that is told first. */
  #first = 0
  /** Events that may still be sent in this window. */
  #left = windowEvents
  /** Whether a member that runs does not know all of them. */
  #isBehind = false
  #cancel: (() => void) | undefined

  /** @param members by world rank, once all have joined */
  constructor(clock: Clock, members: () => readonly ServedMember[]) {
    this.#clock = clock
    this.#members = members
  }

  /** World ranks that have left, or are lost, ascending. */
  ranks(of: Departure['state']): number[] {
    const gone = this.#all.filter(({ state }) => state === of)
    return gone.map(({ rank }) => rank).sort((a, b) => a - b)
  }

  add(departure: Departure): void {
    this.#all.push(departure)
    this.tell()
  }

  /** Tells members that run what they do not know, now or in later windows. */
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
