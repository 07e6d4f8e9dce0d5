import { GrowingInt32Array } from '../../base/growing-array.js'
import { concatenateWords } from '../../base/packing.js'
import { stableOrder } from '../../base/search.js'
import { RankweaveError } from '../../errors.js'
import { opKind, type Schedule } from '../ir.js'
import { pairMessages } from '../message-pairs.js'
import { operationsOfRank } from '../walk.js'
import type { Frames } from './lower-frames.js'
import { type LoweringContext, NumberOfBlock } from './lowering-context.js'
import type { Combinations } from './program.js'

/** The values of a process: their contributors, bringers or makers, and their destinations. */
interface Values {
  readonly valueTerm: Int32Array
  readonly ownStart: Int32Array
  /** The values of the send frames, side by side. */
  readonly sent: Int32Array
  readonly combine: Combinations
  /** The value of every slot of every hosted rank, side by side. */
  readonly ofSlot: Int32Array
}

/**
 * Numbers the values of a process and finds which of them every frame, combination and slot takes. All ranks share a
 * block that one of them has. It is the first value that brings it, or their own; the own value until a frame brings it
 * back. Partial results are followed from place to place.
 *
 * @throws ERR_SCHEDULE when the process lacks a value that it needs
 */
export function valuesOf(
  context: LoweringContext,
  process: number,
  ranks: Int32Array,
  sent: Frames,
  received: Frames,
): Values {
  return new ValueFinder(context, process, ranks, sent, received).find()
}

class ValueFinder {
  readonly #context: LoweringContext
  readonly #process: number
  readonly #ranks: Int32Array
  readonly #sent: Frames
  readonly #received: Frames
  readonly #ownStart: Int32Array
  readonly #ownTerm: Int32Array
  /** The first value that frames bring. */
  readonly #firstArrival: number
  readonly #firstCombined: number
  /** The first value that holds each block. */
  readonly #valueOfBlock: NumberOfBlock
  /** The round in which each value arrives, from {@link #firstArrival} on. */
  readonly #arrivalRound: Int32Array

  constructor(context: LoweringContext, process: number, ranks: Int32Array, sent: Frames, received: Frames) {
    this.#context = context
    this.#process = process
    this.#ranks = ranks
    this.#sent = sent
    this.#received = received
    const { ownStart, ownBlock } = context.schedule.specification
    this.#ownStart = new Int32Array(ranks.length + 1)
    for (let i = 0; i < ranks.length; i++) {
      this.#ownStart[i + 1] = this.#ownStart[i] + ownStart[ranks[i] + 1] - ownStart[ranks[i]]
    }
    this.#firstArrival = this.#ownStart[ranks.length]
    this.#firstCombined = this.#firstArrival + received.term.length
    this.#ownTerm = new Int32Array(this.#firstArrival)
    for (let i = 0; i < ranks.length; i++) {
      this.#ownTerm.set(ownBlock.subarray(ownStart[ranks[i]], ownStart[ranks[i] + 1]), this.#ownStart[i])
    }
    this.#arrivalRound = new Int32Array(received.term.length)
    for (const [frame, round] of received.round.entries())
      this.#arrivalRound.fill(round, received.termStart[frame], received.termStart[frame + 1])
    this.#valueOfBlock = new NumberOfBlock(context.schedule, received.term.length + this.#firstArrival)
    for (let v = received.term.length - 1; v >= 0; v--) {
      if (received.term[v] >= 0) this.#valueOfBlock.set(received.term[v], this.#firstArrival + v)
    }
    this.#ownTerm.forEach((term, own) => {
      if (this.#valueOfBlock.get(term) === -1) this.#valueOfBlock.set(term, own)
    })
  }

  find(): Values {
    const traced = this.#hasPartials() ? this.#trace() : undefined
    const sent = traced?.sent ?? new Int32Array(this.#sent.term.length)
    this.#findSentBlocks(sent)
    const terms = [this.#ownTerm, this.#received.term, traced?.combinedTerm ?? none]
    const valueTerm = concatenateWords(terms)
    const combine = {
      firstValue: this.#firstCombined,
      left: traced?.left ?? none,
      right: traced?.right ?? none,
    }
    return {
      valueTerm,
      ownStart: this.#ownStart,
      sent,
      combine,
      ofSlot: this.#slots(traced?.places),
    }
  }

  /** Whether the hosted ranks move or need any partial results; otherwise nothing has to be traced. */
  #hasPartials(): boolean {
    const { schedule } = this.#context
    const { entryStart, entryBlock } = schedule
    const { slotStart, slotTerm } = schedule.specification
    for (const rank of this.#ranks) {
      const [from, to] = operationsOfRank(schedule, rank)
      for (let e = entryStart[from]; e < entryStart[to]; e++) if (entryBlock[e] < 0) return true
      for (let s = slotStart[rank]; s < slotStart[rank + 1]; s++) if (slotTerm[s] < 0) return true
    }
    return false
  }

  #findSentBlocks(sent: Int32Array): void {
    const { round, termStart, term, entry } = this.#sent
    for (let frame = 0; frame < round.length; frame++) {
      for (let i = termStart[frame]; i < termStart[frame + 1]; i++) {
        if (entry[i] === -1) sent[i] = this.#blockBefore(term[i], round[frame])
      }
    }
  }

  /** Returns the value of a block that is there when a round begins. */
  #blockBefore(block: number, round: number): number {
    const value = this.#valueOfBlock.get(block)
    if (value !== -1 && this.#roundOf(value) < round) return value
    const own = this.#ownTerm.indexOf(block)
    if (own === -1) throw this.#missing(block, `to send it in round ${round}`)
    return own
  }

  /** Returns the round in which a value is contributed (-1) or arrives. */
  #roundOf(value: number): number {
    return value < this.#firstArrival ? -1 : this.#arrivalRound[value - this.#firstArrival]
  }

  #slots(places: HeldValues | undefined): Int32Array {
    const { slotStart, slotTerm } = this.#context.schedule.specification
    const values = new GrowingInt32Array()
    for (let i = 0; i < this.#ranks.length; i++) {
      const rank = this.#ranks[i]
      for (let s = slotStart[rank]; s < slotStart[rank + 1]; s++) {
        const term = slotTerm[s]
        const slot = s - slotStart[rank]
        const value = term < 0 ? places?.slot(i, slot) : this.#valueOfBlock.get(term)
        if (value === undefined || value < 0) throw this.#missing(term, `for slot ${slot} of rank ${rank}`)
        values.push(value)
      }
    }
    return values.toArray()
  }

  /** Follows partial results, round by round: the results of the operations in every place. */
  #trace(): Traced {
    const { schedule, placement, rounds } = this.#context
    const { opPeer, entryStart, entryBlock, entryFrom, entryRight, entryTo } = schedule
    const places = new HeldValues(schedule, this.#ranks, this.#ownStart)
    const sent = new Int32Array(this.#sent.term.length).fill(-1)
    const sentAt = entryIndex(this.#sent)
    const receivedAt = entryIndex(this.#received)
    const left = new GrowingInt32Array()
    const right = new GrowingInt32Array()
    const combinedTerm = new GrowingInt32Array()
    const partner = rounds.partner ?? pairMessages(schedule)
    // The contents of local messages, from their send to their receive.
    const carried = new Map<number, Int32Array>()

    const read = (i: number, place: number, e: number): number => {
      const value = places.get(i, place)
      if (value === -1) throw this.#missing(entryBlock[e], `in place ${place} of rank ${this.#ranks[i]}`)
      return value
    }
    const { ops, hosted } = this.#inOrder()
    for (let at = 0; at < ops.length; at++) {
      const op = ops[at]
      const i = hosted[at]
      const [from, to] = [entryStart[op], entryStart[op + 1]]
      const isLocal = placement[opPeer[op]] === this.#process
      switch (schedule.opKind[op]) {
        case opKind.send:
          if (isLocal) {
            const values = new Int32Array(to - from)
            for (let e = from; e < to; e++) values[e - from] = read(i, entryFrom[e], e)
            carried.set(partner[op], values)
          } else {
            for (let e = from; e < to; e++) {
              if (entryBlock[e] < 0) sent[sentAt(e)] = read(i, entryFrom[e], e)
            }
          }
          break
        case opKind.receive: {
          const values = carried.get(op)
          if (isLocal && values === undefined)
            throw this.#missing(entryBlock[from], `to receive it on rank ${this.#ranks[i]}`)
          carried.delete(op)
          for (let e = from; e < to; e++) {
            const block = entryBlock[e]
            if (values !== undefined) places.set(i, entryTo[e], values[e - from])
            else if (block < 0) places.set(i, entryTo[e], this.#firstArrival + receivedAt(e))
            else places.set(i, entryTo[e], this.#blockBefore(block, rounds.ofOperation[op] + 1))
          }
          break
        }
        case opKind.copy:
          for (let e = from; e < to; e++) places.set(i, entryTo[e], read(i, entryFrom[e], e))
          break
        default:
          for (let e = from; e < to; e++) {
            left.push(read(i, entryFrom[e], e))
            right.push(read(i, entryRight[e], e))
            places.set(i, entryTo[e], this.#firstCombined + combinedTerm.length)
            combinedTerm.push(entryBlock[e])
          }
      }
    }
    return {
      places,
      sent,
      left: left.toArray(),
      right: right.toArray(),
      combinedTerm: combinedTerm.toArray(),
    }
  }

  /**
   * Returns the operations of the hosted ranks and the index of the rank of each: by round, and in it sends, receives,
   * then copies and combinations.
   */
  #inOrder(): { readonly ops: Int32Array; readonly hosted: Int32Array } {
    const { schedule, rounds } = this.#context
    const opOf = new GrowingInt32Array()
    const hosted = new GrowingInt32Array()
    for (let i = 0; i < this.#ranks.length; i++) {
      const [from, to] = operationsOfRank(schedule, this.#ranks[i])
      for (let op = from; op < to; op++) {
        opOf.push(op)
        hosted.push(i)
      }
    }
    const classOf = (op: number): number => Math.min(schedule.opKind[op], opKind.copy)
    const byClass = stableOrder(opOf.length, (at) => classOf(opOf.get(at)))
    const byRound = stableOrder(opOf.length, (at) => rounds.ofOperation[opOf.get(byClass[at])])
    const order = byRound.map((at) => byClass[at])
    return { ops: order.map((at) => opOf.get(at)), hosted: order.map((at) => hosted.get(at)) }
  }

  #missing(term: number, what: string): RankweaveError {
    const process = this.#process
    const named = term < 0 ? `a partial result of part ${~term}` : `block ${term}`
    return new RankweaveError(
      'ERR_SCHEDULE',
      `process ${process} does not have ${named} ${what}: verify the schedule before lowering it`,
      { details: term < 0 ? { process, part: ~term } : { process, block: term } },
    )
  }
}

const none = new Int32Array(0)

interface Traced {
  readonly places: HeldValues
  readonly sent: Int32Array
  readonly left: Int32Array
  readonly right: Int32Array
  readonly combinedTerm: Int32Array
}

/** Returns the place of a partial result in its frame's list, by entry. */
function entryIndex({ entry }: Frames): (entry: number) => number {
  let [least, most] = [Number.POSITIVE_INFINITY, -1]
  for (const e of entry) {
    if (e === -1) continue
    least = Math.min(least, e)
    most = Math.max(most, e)
  }
  const index = new Int32Array(Math.max(0, most - least + 1))
  for (let i = 0; i < entry.length; i++) if (entry[i] !== -1) index[entry[i] - least] = i
  return (e) => index[e - least]
}

/** The value in every place of the hosted ranks. */
export class HeldValues {
  readonly #start: Int32Array
  readonly #value: Int32Array
  readonly #ownCount: Int32Array

  /** @param ownStart the values that the i-th hosted rank contributes: from there up to the next */
  constructor({ specification, staging }: Schedule, ranks: Int32Array, ownStart: Int32Array) {
    const { slotStart } = specification
    this.#start = new Int32Array(ranks.length + 1)
    this.#ownCount = new Int32Array(ranks.length)
    for (let i = 0; i < ranks.length; i++) {
      const rank = ranks[i]
      this.#ownCount[i] = ownStart[i + 1] - ownStart[i]
      const slots = slotStart[rank + 1] - slotStart[rank]
      this.#start[i + 1] = this.#start[i] + this.#ownCount[i] + slots + staging[rank]
    }
    this.#value = new Int32Array(this.#start[ranks.length]).fill(-1)
    for (let i = 0; i < ranks.length; i++) {
      for (let own = 0; own < this.#ownCount[i]; own++) this.#value[this.#start[i] + own] = ownStart[i] + own
    }
  }

  /** Returns the value in a place of the i-th hosted rank; -1 if there is none. */
  get(i: number, place: number): number {
    const at = this.#start[i] + place
    return place >= 0 && at < this.#start[i + 1] ? this.#value[at] : -1
  }

  set(i: number, place: number, value: number): void {
    const at = this.#start[i] + place
    if (place >= 0 && at < this.#start[i + 1]) this.#value[at] = value
  }

  slot(i: number, slot: number): number {
    return this.get(i, this.#ownCount[i] + slot)
  }
}
