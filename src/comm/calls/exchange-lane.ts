import type { CollectiveCall } from './collective-engine.js'
import type { SlotExchange } from './exchange.js'
import { Slot } from './exchange-slot.js'
import type { Signature } from './signature.js'

/** The lane of plain calls. */
export const everyCall = 0

/** Completed calls that a lane can still name. */
const recentCalls = 32

/**
 * Matching by call order is done within a lane: lane 0 for plain calls, one more per persistent operation. Sequence
 * numbers wrap at 2^32, so they are compared by their difference.
 */
export class Lane {
  readonly id: number
  /** Sequence number of the next call of every local rank. */
  readonly next: Uint32Array
  /** The largest of `next`: frames from here on belong to collectives that nobody here has called yet. */
  started = 0
  readonly slots = new Map<number, Slot>()
  /** Of a collective that is over, for the next one. */
  spareExchange: SlotExchange | undefined
  /** Brought by the first caller of the collective that was opened last. */
  lastCall: CollectiveCall<never, unknown> | undefined
  readonly #localRanks: number
  /** The slot that was asked for last: nearly always the next one asked for. */
  #current: Slot | undefined
  readonly #recent: (Signature | undefined)[] = []

  constructor(id: number, localRanks: number) {
    this.id = id
    this.#localRanks = localRanks
    this.next = new Uint32Array(localRanks)
  }

  slot(seq: number): Slot {
    if (this.#current?.seq === seq) return this.#current
    let slot = this.slots.get(seq)
    if (slot === undefined) {
      slot = new Slot(this, seq, this.#localRanks)
      this.slots.set(seq, slot)
    }
    this.#current = slot
    return slot
  }

  /** Has the collective with this number come and gone here? */
  hasCompleted(seq: number): boolean {
    return ((seq - this.started) | 0) < 0 && !this.slots.has(seq)
  }

  /** Has this local rank made its call of the slot? */
  hasJoined(slot: Slot, localIndex: number): boolean {
    return slot.call !== undefined && ((this.next[localIndex]! - slot.seq) | 0) > 0
  }

  /** Ends a slot; its signature stays for a while, to name what a late frame does not match. */
  complete(slot: Slot): void {
    this.slots.delete(slot.seq)
    this.#current = undefined
    this.#recent[slot.seq % recentCalls] = slot.call!.signature
  }

  /** Takes all slots away, to end them. */
  clear(): Slot[] {
    const slots = [...this.slots.values()]
    this.slots.clear()
    this.#current = undefined
    return slots
  }

  recent(seq: number): Signature | undefined {
    return ((this.started - seq) | 0) <= recentCalls ? this.#recent[seq % recentCalls] : undefined
  }
}
