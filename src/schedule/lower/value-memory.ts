import { GrowingInt32Array } from '../../base/growing-array.js'
import { rowStarts } from '../../topology/compressed-rows.js'
import { isNeighborSchedule, type Schedule } from '../ir.js'
import type { Collective } from '../specification.js'
import type { ProcessProgram } from './program.js'

/** The memory areas of values while their program runs. */
export const area = {
  /** The contribution of its rank. */
  own: 0,
  /** The receive buffer, at the first slot that the value fills. */
  slot: 1,
  /** Memory that only the run needs. */
  scratch: 2,
} as const

/**
 * The memory of a program's values. Values are assigned once, but memory is reused: a combination goes to the place of
 * an operand, and an arriving partial result may use the slot that its part fills later.
 */
export interface ValueMemory {
  /** The {@link area} of every value. */
  readonly area: Uint8Array
  /** The own place, slot or piece of scratch memory, by value. */
  readonly index: Int32Array
  /**
   * The own places that are copied into their slots before the run: `ownCopy[i]` into the slot numbered `ownCopyTo[i]`.
   */
  readonly ownCopy: Int32Array
  readonly ownCopyTo: Int32Array
  /** The i-th copy after the run: value `copy[i]` into the slot numbered `copyTo[i]`. */
  readonly copy: Int32Array
  readonly copyTo: Int32Array
  /** The slots of the i-th hosted rank are numbered `slotStart[i]` up to the next; all from 0 if ranks share them. */
  readonly slotStart: Int32Array
  /**
   * The final contents of each slot, and of each piece of scratch memory below: a block, or `~p`. They determine the
   * length.
   */
  readonly slotTerm: Int32Array
  readonly scratchTerm: Int32Array
  /** Whether slots may be the memory of own places with the same number, as when a call is in place. */
  readonly isSafeInPlace: boolean
}

export interface MemoryOptions {
  /** Whether the slots with one number of all hosted ranks are one, which holds the same for all of them. */
  readonly isShared?: boolean
  /** The number of parts that every rank contributes to a reduction. */
  readonly parts?: number
  /** Whether every reduction combines the contributions of all ranks. */
  readonly isTotal?: boolean
  /**
   * Whether slots are the memory of own places with the same number, so that nothing else may be written there early.
   */
  readonly isInPlace?: boolean
}

/**
 * Returns how calls of a collective lay out their memory.
 *
 * @param parts the number of parts that every rank contributes to a reduction
 */
export function memoryOptionsOf(collective: Collective, parts: number): MemoryOptions {
  const isTotal = collective === 'allreduce' || collective === 'reduce'
  const isShared = collective !== 'reduce-scatter' && collective !== 'exscan' && collective !== 'scan'
  return { isTotal, isShared, ...(isTotal ? { parts } : {}) }
}

/**
 * Decides the places of values. Large frames are read until their receiver has them. So memory that a frame sends is
 * rewritten only by a value that cannot exist before the frame has been received. That is the combination of all ranks'
 * contributions, if the frame was the only way for this rank's own to get there.
 */
export function valueMemory(program: ProcessProgram, options: MemoryOptions = {}): ValueMemory {
  return new Assignment(program, options).memory()
}

class Assignment {
  readonly #program: ProcessProgram
  readonly #options: MemoryOptions
  readonly #area: Uint8Array
  readonly #index: Int32Array
  /** The number of frames that send a value. */
  readonly #sends: Int32Array
  /** The number of combinations that read a value. */
  readonly #reads: Int32Array
  /** The last combination that reads a value; -1 if none does. */
  readonly #reader: Int32Array
  readonly #slotStart: Int32Array
  /** The final value of each slot. */
  readonly #filler: Int32Array
  readonly #scratchTerm = new GrowingInt32Array(8)
  /** By part, the first slot that its combination fills. */
  readonly #slotOfPart = new Map<number, number>()
  readonly #isTaken: Uint8Array

  constructor(program: ProcessProgram, options: MemoryOptions) {
    const values = program.valueTerm.length
    this.#program = program
    this.#options = options
    this.#area = new Uint8Array(values).fill(area.scratch)
    this.#index = new Int32Array(values).fill(-1)
    this.#sends = new Int32Array(values)
    this.#reads = new Int32Array(values)
    this.#reader = new Int32Array(values).fill(-1)
    for (const value of program.send.value) this.#sends[value]++
    const { left, right } = program.combine
    for (let c = 0; c < left.length; c++) {
      for (const value of [left[c], right[c]]) {
        this.#reads[value]++
        this.#reader[value] = c
      }
    }
    this.#slotStart = this.#slots()
    this.#filler = this.#fillers()
    this.#isTaken = new Uint8Array(this.#filler.length)
    this.#filler.forEach((value, slot) => {
      const term = program.valueTerm[value]
      if (term < 0 && !this.#slotOfPart.has(~term)) this.#slotOfPart.set(~term, slot)
    })
  }

  memory(): ValueMemory {
    const { valueTerm, ownStart, combine } = this.#program
    const owns = ownStart[ownStart.length - 1]
    const ownCopy: number[] = []
    const ownCopyTo: number[] = []
    for (let value = 0; value < owns; value++) {
      const slot = this.#firstSlot(value)
      if (slot < 0) this.#place(value, area.own, value)
      else {
        this.#place(value, area.slot, slot)
        ownCopy.push(value)
        ownCopyTo.push(slot)
      }
    }
    for (let value = owns; value < valueTerm.length; value++) {
      const slot = this.#firstSlot(value)
      if (slot >= 0) this.#place(value, area.slot, slot)
      else if (value < combine.firstValue) this.#placeArrival(value)
      else this.#placeCombination(value)
    }
    const copy: number[] = []
    const copyTo: number[] = []
    this.#filler.forEach((value, slot) => {
      if (this.#area[value] === area.slot && this.#index[value] === slot) return
      copy.push(value)
      copyTo.push(slot)
    })
    return {
      area: this.#area,
      index: this.#index,
      ownCopy: Int32Array.from(ownCopy),
      ownCopyTo: Int32Array.from(ownCopyTo),
      copy: Int32Array.from(copy),
      copyTo: Int32Array.from(copyTo),
      slotStart: this.#slotStart,
      slotTerm: this.#filler.map((value) => valueTerm[value]),
      scratchTerm: this.#scratchTerm.toArray(),
      isSafeInPlace: this.#isSafeInPlace(owns),
    }
  }

  #slots(): Int32Array {
    const { ranks, fillRank } = this.#program
    return this.#options.isShared === true ? new Int32Array(ranks.length) : rowStarts(ranks.length, fillRank)
  }

  #fillers(): Int32Array {
    const { fillStart, fillRank, fillSlot } = this.#program
    const fillers: number[] = []
    for (let value = 0; value + 1 < fillStart.length; value++) {
      for (let f = fillStart[value]; f < fillStart[value + 1]; f++) {
        const slot = this.#slotStart[fillRank[f]] + fillSlot[f]
        fillers[slot] ??= value
      }
    }
    return Int32Array.from(fillers)
  }

  /** Returns the first slot that a value fills and that holds nothing else; -1 if there is none. */
  #firstSlot(value: number): number {
    const { fillStart, fillRank, fillSlot } = this.#program
    for (let f = fillStart[value]; f < fillStart[value + 1]; f++) {
      const slot = this.#slotStart[fillRank[f]] + fillSlot[f]
      if (this.#filler[slot] === value) return slot
    }
    return -1
  }

  #place(value: number, where: number, index: number): void {
    this.#area[value] = where
    this.#index[value] = index
  }

  #placeArrival(value: number): void {
    const slot = this.#earlySlot(value)
    if (slot < 0) this.#placeInScratch(value)
    else {
      this.#isTaken[slot] = 1
      this.#place(value, area.slot, slot)
    }
  }

  /** Places a combination over an operand that nothing else reads. */
  #placeCombination(value: number): void {
    const { combine } = this.#program
    const c = value - combine.firstValue
    for (const operand of [combine.left[c], combine.right[c]]) {
      if (this.#area[operand] === area.own || this.#isFinal(operand)) continue
      if (this.#sends[operand] + this.#reads[operand] > 1) continue
      this.#place(value, this.#area[operand], this.#index[operand])
      return
    }
    this.#placeInScratch(value)
  }

  #placeInScratch(value: number): void {
    this.#place(value, area.scratch, this.#scratchTerm.length)
    this.#scratchTerm.push(this.#program.valueTerm[value])
  }

  /** Returns the slot in which an arriving partial result can be combined; -1 if it needs separate memory. */
  #earlySlot(arrival: number): number {
    const { combine } = this.#program
    const slot = this.#slotOfPart.get(this.#partOf(arrival)) ?? -1
    if (slot < 0 || this.#options.isInPlace === true || this.#isTaken[slot] === 1) return -1
    const final = this.#filler[slot]
    let own = -1
    for (let value = arrival; ; ) {
      if (this.#sends[value] + this.#reads[value] !== 1) return -1
      if (this.#reads[value] === 0) {
        const isAfter = this.#options.isTotal === true && own >= 0 && this.#hasOneUse(own)
        return isAfter && final < combine.firstValue ? slot : -1
      }
      const c = this.#reader[value]
      const other = combine.left[c] === value ? combine.right[c] : combine.left[c]
      if (this.#area[other] === area.own) own = other
      value = combine.firstValue + c
      if (value === final) return slot
    }
  }

  /** Returns the part of a value; -1 for a block that is not combined. */
  #partOf(value: number): number {
    const term = this.#program.valueTerm[value]
    if (term < 0) return ~term
    return this.#options.parts === undefined ? -1 : term % this.#options.parts
  }

  /** Whether a value remains in its slot when the program has run. */
  #isFinal(value: number): boolean {
    return this.#area[value] === area.slot && this.#filler[this.#index[value]] === value
  }

  #hasOneUse(value: number): boolean {
    return this.#sends[value] + this.#reads[value] === 1
  }

  /**
   * Whether every slot may be the own place with its number. The own value must be in its slot anyway, or have one use,
   * after which alone the slot can be filled.
   */
  #isSafeInPlace(owns: number): boolean {
    const { ranks, combine } = this.#program
    if (ranks.length !== 1 || this.#filler.length !== owns) return false
    for (let own = 0; own < owns; own++) {
      const final = this.#filler[own]
      if (final === own) continue
      const isSent = final >= combine.firstValue && this.#sends[own] > 0
      if (isSent || !this.#hasOneUse(own)) return false
    }
    return this.#options.isTotal === true
  }
}

/**
 * The copies that a process makes while it runs a program. They follow from the places of the schedule's values in the
 * buffers of its ranks, so runners, simulators and exports agree on them.
 */
interface Copies {
  /** By send frame, 1 for a frame that is sent from the place of its values, 0 for one that is packed. */
  readonly isSentInPlace: Uint8Array
  /** By receive frame, 1 for a frame that is received in the place of its values, 0 for one that is unpacked. */
  readonly isReceivedInPlace: Uint8Array
  /** The values that are copied into slots, once for each copy. */
  readonly toSlots: Int32Array
}

/**
 * Computes the copies of a program. A frame whose values lie next to each other in memory, in its order, needs no copy
 * at this end; one of at most one value never does. Ends are independent: one may pack a frame that the other receives
 * in place.
 *
 * In neighborhood collectives, frames of several values are packed and unpacked.
 */
export function copiesOf(schedule: Schedule, program: ProcessProgram): Copies {
  const { send, receive } = program
  if (isNeighborSchedule(schedule)) {
    const never = (): boolean => false
    return {
      isSentInPlace: runsOf(send.valueStart, never),
      isReceivedInPlace: runsOf(receive.valueStart, never),
      toSlots: besideFirstSlots(program),
    }
  }
  const { collective, partStart } = schedule.specification
  const memory = valueMemory(program, memoryOptionsOf(collective, partStart[1]))
  const follows = followsIn(program, memory)
  return {
    isSentInPlace: runsOf(send.valueStart, (at) => follows(send.value[at - 1], send.value[at])),
    isReceivedInPlace: runsOf(receive.valueStart, (value) => follows(value - 1, value)),
    toSlots: Int32Array.from([...memory.ownCopy, ...memory.copy]),
  }
}

function runsOf(valueStart: Int32Array, follows: (at: number) => boolean): Uint8Array {
  const frames = valueStart.length - 1
  const isRun = new Uint8Array(frames).fill(1)
  for (let frame = 0; frame < frames; frame++) {
    for (let at = valueStart[frame] + 1; isRun[frame] === 1 && at < valueStart[frame + 1]; at++)
      if (!follows(at)) isRun[frame] = 0
  }
  return isRun
}

/** Whether a value begins where another ends. The contributions of two ranks are in two buffers. */
function followsIn({ ownStart }: ProcessProgram, memory: ValueMemory) {
  const firsts = new Set(ownStart)
  return (before: number, value: number): boolean =>
    memory.area[before] === memory.area[value] &&
    memory.index[before] + 1 === memory.index[value] &&
    !(memory.area[value] === area.own && firsts.has(memory.index[value]))
}

/**
 * Returns the slots besides the first ones. An arriving value is received in its first slot; the contribution of a rank
 * is in none.
 */
function besideFirstSlots({ fillStart, ownStart, valueTerm }: ProcessProgram): Int32Array {
  const owns = ownStart[ownStart.length - 1]
  const copied: number[] = []
  for (let value = 0; value < valueTerm.length; value++) {
    const copies = fillStart[value + 1] - fillStart[value] - (value < owns ? 0 : 1)
    for (let copy = 0; copy < copies; copy++) copied.push(value)
  }
  return Int32Array.from(copied)
}
