import { NumberMap } from '../../base/maps.js'
import type { RankweaveError } from '../../errors.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { type ExchangeOwner, SlotExchange } from '../exchange/slot-exchange.js'
import type { Signature } from '../signature.js'
import type { AnyCall } from './collective-call.js'
import { Slot } from './slot.js'

export const plainLane = 0

/** The number of completed calls whose signature a lane retains for error messages. */
const recentCalls = 32

/**
 * A lane is the sequence within which calls are matched by order: lane 0 for plain calls, one more per persistent
 * operation. Sequence numbers wrap at 2^32, so they are compared by their difference.
 */
export class Lane {
  readonly id: number
  /** The largest of `next`. Frames from here on belong to collectives that no rank here has called yet. */
  started = 0
  readonly slots = new NumberMap<Slot>()
  /** The call of the collective that was opened last. */
  lastCall: AnyCall | undefined
  /** The exchange of a completed collective, reused by the next one. */
  spareExchange: SlotExchange | undefined
  /** The slot of a completed collective whose ranks joined together, reused by the next one. */
  spareSlot: Slot | undefined
  readonly #state: CommContext
  readonly #owner: ExchangeOwner
  /** The slot returned last, which is nearly always the one wanted next. */
  #current: Slot | undefined
  readonly #recent: (Signature | undefined)[] = []
  /** The sequence number of the next call of every local rank, less {@link #together}. */
  readonly #next: Uint32Array
  /** The calls that all local ranks made together since `#next` was brought up to date. */
  #together = 0
  /** The largest of `#next`, and how many local ranks have it: a call moves the number of one rank by 1. */
  #front = 0
  #ranksAtFront: number

  constructor(id: number, state: CommContext, owner: ExchangeOwner) {
    this.id = id
    this.#state = state
    this.#owner = owner
    this.#next = new Uint32Array(state.localRanks.length)
    this.#ranksAtFront = state.localRanks.length
  }

  /** The sequence number of the next call of every local rank. */
  get next(): Readonly<Uint32Array> {
    if (this.#together !== 0) {
      for (let i = 0; i < this.#next.length; i++) this.#next[i] += this.#together
      this.#front = (this.#front + this.#together) >>> 0
      this.#together = 0
    }
    return this.#next
  }

  nextOf(localIndex: number): number {
    return (this.#next[localIndex] + this.#together) >>> 0
  }

  /** Notes that a local rank has joined its next call. */
  joined(localIndex: number): void {
    const next = ++this.#next[localIndex]
    if (next >>> 0 === this.#front) this.#ranksAtFront++
    else if (next >>> 0 === (this.#front + 1) >>> 0) {
      this.#front = next >>> 0
      this.#ranksAtFront = 1
    }
  }

  /** Notes that all local ranks have joined their next call. */
  joinedTogether(): void {
    this.#together++
  }

  slot(seq: number): Slot {
    if (this.#current?.seq === seq) return this.#current
    let slot = this.slots.get(seq)
    if (slot === undefined) {
      slot = this.spareSlot?.reuse(seq) ?? new Slot(seq, this.#next.length)
      this.spareSlot = undefined
      this.slots.set(seq, slot)
    }
    this.#current = slot
    return slot
  }

  /** Returns the exchange of a slot, which is made when a frame arrives or the collective runs. */
  exchange(slot: Slot): SlotExchange {
    if (slot.exchange === undefined) {
      slot.exchange = this.spareExchange ?? this.newExchange()
      this.spareExchange = undefined
      slot.exchange.begin(slot.seq)
      if (slot.call !== undefined) slot.exchange.sign(slot.call.signature)
    }
    return slot.exchange
  }

  /** @param pieceBytes as of {@link SlotExchange} */
  newExchange(pieceBytes?: number): SlotExchange {
    return new SlotExchange(this.#state, this.#owner, this.id, pieceBytes)
  }

  hasCompleted(seq: number): boolean {
    return ((seq - this.started) | 0) < 0 && this.#current?.seq !== seq && !this.slots.has(seq)
  }

  /** Whether all local ranks have started equally many collectives. */
  get isEven(): boolean {
    return this.#ranksAtFront === this.#next.length
  }

  /**
   * Tells whether the last collective that this local rank has joined is in progress here; without a rank, that of any.
   */
  isActive(localIndex?: number): boolean {
    if (localIndex !== undefined) return this.slots.get((this.nextOf(localIndex) - 1) >>> 0) !== undefined
    return this.isEven ? this.isActive(0) : this.next.some((_, i) => this.isActive(i))
  }

  hasJoined(slot: Slot, localIndex: number): boolean {
    return slot.call !== undefined && ((this.nextOf(localIndex) - slot.seq) | 0) > 0
  }

  /** Removes a completed slot. Its signature is retained for a while, to name the call that a late frame mismatches. */
  complete(slot: Slot): void {
    this.slots.delete(slot.seq)
    this.#current = undefined
    this.#recent[slot.seq % recentCalls] = slot.call!.signature
    const { exchange } = slot
    if (exchange?.idle) this.spareExchange = exchange
    else exchange?.drop()
    slot.exchange = undefined
  }

  clear(): Slot[] {
    const slots = this.slots.values()
    this.slots.clear()
    this.#current = undefined
    return slots
  }

  recent(seq: number): Signature | undefined {
    return ((this.started - seq) | 0) <= recentCalls ? this.#recent[seq % recentCalls] : undefined
  }
}

export class CallLanes extends Map<number, Lane> {
  readonly #state: CommContext
  readonly #owner: ExchangeOwner

  constructor(state: CommContext, owner: ExchangeOwner) {
    super()
    this.#state = state
    this.#owner = owner
  }

  /** Returns the lane with this id, opened on first use. */
  lane(id: number): Lane {
    let lane = this.get(id)
    if (lane === undefined) {
      lane = new Lane(id, this.#state, this.#owner)
      this.set(id, lane)
    }
    return lane
  }

  /** The number of starts of persistent operations that join once their init has completed. */
  #startsToCome = 0
  #lastCallWaiter: { resolve(): void; reject(error: RankweaveError): void } | undefined

  countStartsToCome(change: 1 | -1): void {
    this.#startsToCome += change
    this.noteIfOnlyCall()
  }

  /** Whether one collective is in progress here, and no start will join later. */
  get isOnlyCall(): boolean {
    let calls = this.#startsToCome
    for (const lane of this.values()) calls += lane.slots.size
    return calls === 1
  }

  /** Resolves once {@link isOnlyCall} holds. */
  whenOnlyCall(): Promise<void> {
    if (this.isOnlyCall) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#lastCallWaiter = { resolve, reject }
    })
  }

  noteIfOnlyCall(): void {
    if (this.#lastCallWaiter !== undefined && this.isOnlyCall) this.#lastCallWaiter.resolve()
  }

  /** Rejects the waiter of {@link whenOnlyCall}, because the condition can no longer hold. */
  failLastCall(error: RankweaveError): void {
    this.#lastCallWaiter?.reject(error)
  }
}
