import type { Schedule } from '../../src/schedule/ir.js'

/** What a place holds: a block, or left operand `op` right operand. */
export type Value = number | readonly [left: Value, right: Value]

export interface Execution {
  /** What the slots hold at the end: by rank, then slot; null where nothing. */
  readonly slots: readonly (readonly (Value | null)[])[]
  /** What went wrong on the way, in plain words; empty when all went well. */
  readonly faults: readonly string[]
}

const [send, receive, copy, combine] = [0, 1, 2, 3]
/** Values with more blocks than this are not made: a mutated schedule can double them in every phase. */
const mostBlocks = 4096

/**
 * Executes a schedule on symbolic values, by what docs/schedule-format.md says of it and without any code of
 * the library: what an entry names is ignored, only places and messages count. Messages are buffered, first
 * in, first out for each source, destination and tag; ranks proceed as long as one can.
 *
 * Faults: a rank waits forever, an empty place is read, a place is written twice or does not exist, a message
 * is left over or does not fit its receive.
 */
export function interpret(schedule: Schedule): Execution {
  const { specification } = schedule
  const faults: string[] = []
  const messages = new Map<string, (Value | null)[][]>()
  const ranks = Array.from(
    { length: specification.ranks },
    (_, rank) => new Rank(schedule, rank, faults, messages),
  )
  for (let moved = true; moved; ) {
    moved = false
    for (const rank of ranks) while (rank.advance()) moved = true
  }
  for (const rank of ranks) if (!rank.isDone) faults.push(`rank ${rank.rank} waits forever`)
  for (const [stream, queue] of messages) {
    if (queue.length > 0) faults.push(`${queue.length} messages ${stream} are left over`)
  }
  return { slots: ranks.map((rank) => rank.slots()), faults }
}

/** One rank; its program counter is at the first operation of a phase, or at the end. */
class Rank {
  readonly rank: number
  readonly #schedule: Schedule
  readonly #faults: string[]
  readonly #messages: Map<string, (Value | null)[][]>
  readonly #holds = new Map<number, Value | null>()
  readonly #own: number
  readonly #slots: number
  readonly #end: number
  #next: number
  #hasSent = false

  constructor(schedule: Schedule, rank: number, faults: string[], messages: Map<string, (Value | null)[][]>) {
    const { ownStart, ownBlock, slotStart } = schedule.specification
    this.rank = rank
    this.#schedule = schedule
    this.#faults = faults
    this.#messages = messages
    this.#own = ownStart[rank + 1] - ownStart[rank]
    this.#slots = slotStart[rank + 1] - slotStart[rank]
    this.#next = schedule.opStart[rank]
    this.#end = schedule.opStart[rank + 1]
    for (let place = 0; place < this.#own; place++) this.#holds.set(place, ownBlock[ownStart[rank] + place])
  }

  get isDone(): boolean {
    return this.#next === this.#end
  }

  slots(): (Value | null)[] {
    return Array.from({ length: this.#slots }, (_, slot) => this.#holds.get(this.#own + slot) ?? null)
  }

  /**
   * Starts the sends of the next phase, or executes the rest of it if all its messages have been sent; else
   * false.
   */
  advance(): boolean {
    if (this.isDone) return false
    const phase = this.#schedule.opPhase[this.#next]
    const operations: number[] = []
    for (let op = this.#next; op < this.#end && this.#schedule.opPhase[op] === phase; op++)
      operations.push(op)
    const of = (...kinds: number[]): number[] =>
      operations.filter((op) => kinds.includes(this.#schedule.opKind[op]))

    if (!this.#hasSent) {
      for (const op of of(send)) this.#send(op)
      this.#hasSent = true
      return true
    }
    const needed = new Map<string, number>()
    for (const op of of(receive)) {
      const stream = this.#streamOf(op)
      needed.set(stream, (needed.get(stream) ?? 0) + 1)
    }
    for (const [stream, count] of needed) if ((this.#messages.get(stream)?.length ?? 0) < count) return false

    for (const op of of(receive)) this.#receive(op)
    for (const op of of(copy, combine)) this.#compute(op)
    this.#next += operations.length
    this.#hasSent = false
    return true
  }

  #streamOf(op: number): string {
    const { opKind, opPeer, opTag } = this.#schedule
    const [from, to] = opKind[op] === send ? [this.rank, opPeer[op]] : [opPeer[op], this.rank]
    return `from ${from} to ${to} with tag ${opTag[op]}`
  }

  #entries(op: number): number[] {
    const { entryStart } = this.#schedule
    return Array.from({ length: entryStart[op + 1] - entryStart[op] }, (_, i) => entryStart[op] + i)
  }

  #send(op: number): void {
    const stream = this.#streamOf(op)
    if (!this.#messages.has(stream)) this.#messages.set(stream, [])
    this.#messages.get(stream)!.push(this.#entries(op).map((e) => this.#read(this.#schedule.entryFrom[e])))
  }

  #receive(op: number): void {
    const values = this.#messages.get(this.#streamOf(op))!.shift()!
    const entries = this.#entries(op)
    if (values.length !== entries.length) {
      this.#fault(`receives ${values.length} blocks ${this.#streamOf(op)}, expects ${entries.length}`)
    }
    entries.forEach((e, i) => void this.#write(this.#schedule.entryTo[e], values[i] ?? null))
  }

  #compute(op: number): void {
    const { opKind, entryFrom, entryRight, entryTo } = this.#schedule
    for (const e of this.#entries(op)) {
      const left = this.#read(entryFrom[e])
      if (opKind[op] === copy) {
        this.#write(entryTo[e], left)
        continue
      }
      const right = this.#read(entryRight[e] ?? -1)
      const blocks = left === null || right === null ? 0 : blocksIn(left) + blocksIn(right)
      if (blocks > mostBlocks) this.#fault(`combines ${blocks} blocks`)
      this.#write(entryTo[e], blocks === 0 || blocks > mostBlocks ? null : [left!, right!])
    }
  }

  #read(place: number): Value | null {
    if (!this.#holds.has(place)) this.#fault(`reads place ${place}, which is empty`)
    return this.#holds.get(place) ?? null
  }

  #write(place: number, value: Value | null): void {
    const places = this.#own + this.#slots + this.#schedule.staging[this.rank]
    if (this.#holds.has(place)) this.#fault(`writes place ${place} again`)
    else if (place < 0 || place >= places) this.#fault(`writes place ${place} of ${places}`)
    else this.#holds.set(place, value)
  }

  #fault(what: string): void {
    this.#faults.push(`rank ${this.rank} ${what}`)
  }
}

const sizes = new WeakMap<readonly [Value, Value], number>()

/** How many blocks a value combines, repetitions counted. */
export function blocksIn(value: Value): number {
  if (typeof value === 'number') return 1
  let size = sizes.get(value)
  if (size === undefined) {
    size = blocksIn(value[0]) + blocksIn(value[1])
    sizes.set(value, size)
  }
  return size
}

/** The blocks of a value from left to right. */
export function blocksOf(value: Value): number[] {
  return typeof value === 'number' ? [value] : [...blocksOf(value[0]), ...blocksOf(value[1])]
}

/** E.g. `((0+1)+2)`. */
export function formatValue(value: Value): string {
  return typeof value === 'number' ? `${value}` : `(${formatValue(value[0])}+${formatValue(value[1])})`
}

/** The blocks that a slot must end with, in the demanded order. */
export function demandedBlocks({ specification }: Schedule, rank: number, slot: number): number[] {
  const { slotStart, slotTerm, reductions } = specification
  const term = slotTerm[slotStart[rank] + slot]
  if (term >= 0) return [term]
  const blocks: number[] = []
  for (let run = reductions.runStart[~term]; run < reductions.runStart[~term + 1]; run++) {
    for (let n = 0; n < reductions.count[run]; n++)
      blocks.push(reductions.first[run] + n * reductions.stride[run])
  }
  return blocks
}

/** What an execution shows of a schedule. */
export interface Outcome {
  /** Why it does not do what its specification demands; empty when it does. */
  readonly faults: readonly string[]
  /** Whether every reduction combines its blocks in the demanded order. */
  readonly isOrdered: boolean
}

/** Executes a schedule and compares its slots with the specification. */
export function outcomeOf(schedule: Schedule): Outcome {
  const { slots, faults } = interpret(schedule)
  const wrong = [...faults]
  let isOrdered = true
  slots.forEach((held, rank) => {
    held.forEach((value, slot) => {
      const demanded = demandedBlocks(schedule, rank, slot)
      const blocks = value === null ? [] : blocksOf(value)
      if (blocks.join() !== demanded.join()) isOrdered = false
      if (sorted(schedule, blocks).join() !== sorted(schedule, demanded).join()) {
        wrong.push(`slot ${slot} of rank ${rank} holds blocks [${blocks}], not [${demanded}]`)
      }
    })
  })
  return { faults: wrong, isOrdered: isOrdered && wrong.length === 0 }
}

function sorted({ specification }: Schedule, blocks: readonly number[]): number[] {
  const counted = specification.reductions.isIdempotent ? [...new Set(blocks)] : [...blocks]
  return counted.sort((a, b) => a - b)
}
