import { opKind, type Schedule } from '../ir.js'
import { endOfPhase, type PhaseRows } from '../walk.js'
import { describeTerm } from './describe-term.js'
import { empty, TermTable } from './term-table.js'
import type { ViolationList } from './violations.js'

/** The final contents of the places of all ranks. */
export interface Contents {
  readonly places: HeldTerms
  readonly terms: TermTable
  /** The number of partial results in messages that `checkMessages` reports, or whose sender is absent. */
  readonly unknownReceived: number
}

/**
 * Executes a schedule on terms, row by row, and follows the contents of each place.
 *
 * A receive and a copy write the blocks that they name: their reads are checked, and another check proves that both
 * ends of a message name the same. The name of a partial result is only its part, so it is followed from the place
 * where its sender reads it.
 *
 * @param order of the rows: each after those of its rank before it and after those that precede the sends that it
 *   receives
 * @param partner of every operation
 */
export function followTerms(
  schedule: Schedule,
  rows: PhaseRows,
  order: Int32Array,
  partner: Int32Array,
  found: ViolationList,
): Contents {
  const follower = new Follower(schedule, rows, partner, found)
  follower.enterAll()
  // Ranks without partial results are independent of each other, and one after the other is faster.
  if (follower.hasPartialResults) for (const row of order) follower.finish(row)
  else for (let row = 0; row < rows.rank.length; row++) follower.finish(row)
  return follower
}

class Follower implements Contents {
  readonly places: HeldTerms
  readonly terms: TermTable
  unknownReceived = 0
  readonly #schedule: Schedule
  readonly #rows: PhaseRows
  readonly #partner: Int32Array
  readonly #found: ViolationList
  /**
   * The term that each entry of a send reads, `empty` before it is executed. The length is 0 if there are no partial
   * results.
   */
  readonly #sent: Int32Array

  constructor(schedule: Schedule, rows: PhaseRows, partner: Int32Array, found: ViolationList) {
    this.places = new HeldTerms(schedule)
    this.terms = new TermTable(schedule.specification)
    this.#schedule = schedule
    this.#rows = rows
    this.#partner = partner
    this.#found = found
    const hasPartialResults = schedule.entryBlock.some((name) => name < 0)
    this.#sent = new Int32Array(hasPartialResults ? schedule.entryBlock.length : 0).fill(empty)
  }

  get hasPartialResults(): boolean {
    return this.#sent.length > 0
  }

  /** Starts the sends of the first phase of every rank. */
  enterAll(): void {
    const { rank } = this.#rows
    for (let row = 0; row < rank.length; row++) if (row === 0 || rank[row - 1] !== rank[row]) this.#enter(row)
  }

  /** Receives, copies and combines; then the rank enters its next phase. */
  finish(row: number): void {
    const { opStart, rank } = this.#rows
    const { opKind: kinds } = this.#schedule
    const [first, end] = [opStart[row], opStart[row + 1]]
    let isComputing = false
    for (let op = first; op < end; op++) {
      if (kinds[op] === opKind.receive) this.#receive(op, rank[row])
      else if (kinds[op] !== opKind.send) isComputing = true
    }
    if (isComputing) {
      for (let op = first; op < end; op++) {
        if (kinds[op] === opKind.copy) this.#copy(op, rank[row])
        else if (kinds[op] === opKind.combine) this.#combine(op, rank[row])
      }
    }
    if (row + 1 < rank.length && rank[row + 1] === rank[row]) this.#enter(row + 1)
  }

  /** Executes the sends, which read the contents that places have when the phase begins. */
  #enter(row: number): void {
    const { opKind: kinds, entryStart, entryBlock, entryFrom } = this.#schedule
    const { opStart, rank } = this.#rows
    const sent = this.#sent
    for (let op = opStart[row]; op < opStart[row + 1]; op++) {
      if (kinds[op] !== opKind.send) continue
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
        const term = this.#read(op, rank[row], entryBlock[e], entryFrom[e])
        if (sent.length > 0) sent[e] = term
      }
    }
  }

  #receive(op: number, rank: number): void {
    const { entryStart, entryBlock, entryTo } = this.#schedule
    for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
      const name = entryBlock[e]
      this.#write(op, rank, entryTo[e], name >= 0 ? name : this.#received(op, e, ~name))
    }
  }

  /**
   * Returns the partial result that an entry of a receive gets; an unknown one if another check reports the message.
   */
  #received(op: number, e: number, part: number): number {
    const { entryStart, entryBlock } = this.#schedule
    const send = this.#partner[op]
    if (send !== -1) {
      const from = entryStart[send] + e - entryStart[op]
      if (from < entryStart[send + 1] && entryBlock[from] === ~part && this.#sent[from] !== empty)
        return this.#sent[from]
    }
    this.unknownReceived++
    return this.terms.unknown(part)
  }

  #copy(op: number, rank: number): void {
    const { entryStart, entryBlock, entryFrom, entryTo } = this.#schedule
    for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
      this.#write(op, rank, entryTo[e], this.#read(op, rank, entryBlock[e], entryFrom[e]))
    }
  }

  #combine(op: number, rank: number): void {
    const { entryStart, entryBlock, entryFrom, entryRight, entryTo } = this.#schedule
    for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
      const name = entryBlock[e]
      const left = this.#operand(op, rank, name, entryFrom[e])
      const right = this.#operand(op, rank, name, entryRight[e])
      const isKnown = left !== empty && right !== empty
      this.#write(
        op,
        rank,
        entryTo[e],
        isKnown ? this.terms.combined(left, right) : this.terms.unknown(~name),
      )
    }
  }

  /**
   * Returns the contents of a place for the named block or part. If the place holds something else, it returns what the
   * name says.
   */
  #read(op: number, rank: number, name: number, place: number): number {
    const term = name >= 0 ? this.#block(op, rank, name, place) : this.#operand(op, rank, name, place)
    if (term !== empty) return term
    return name >= 0 ? name : this.terms.unknown(~name)
  }

  /** Returns a block, or `empty` if the place holds something else. */
  #block(op: number, rank: number, block: number, place: number): number {
    const { places, terms } = this
    const index = places.at(rank, place)
    const held = places.holds[index]
    places.isRead[index] = 1
    if (held === block) return block
    if (held === empty) this.#complain('place-empty', op, rank, block, place, held)
    else if (!terms.isUnknown(held) || terms.partOf(held) !== terms.parts.partOf(block)) {
      this.#complain('wrong-block', op, rank, block, place, held)
    }
    return empty
  }

  /** Returns a block or partial result of a part, or `empty` if the place holds something else. */
  #operand(op: number, rank: number, name: number, place: number): number {
    const { places, terms } = this
    const index = places.at(rank, place)
    const held = places.holds[index]
    places.isRead[index] = 1
    if (held === empty) this.#complain('place-empty', op, rank, name, place, held)
    else if (terms.partOf(held) === ~name) return held
    else this.#complain('wrong-part', op, rank, name, place, held)
    return empty
  }

  #write(op: number, rank: number, place: number, term: number): void {
    const { holds } = this.places
    const index = this.places.at(rank, place)
    if (holds[index] === empty) {
      holds[index] = term
      return
    }
    const { specification, opPhase } = this.#schedule
    const own = specification.ownStart[rank + 1] - specification.ownStart[rank]
    const held = holds[index]
    this.#found.add('place-rewritten', rank, opPhase[op], () => {
      const what =
        place < own ? 'holds its own contribution' : `already holds ${describeTerm(this.terms, held)}`
      return `rank ${rank} writes ${describeTerm(this.terms, term)} to place ${place} in phase ${opPhase[op]}, which ${what}`
    })
    holds[index] = term
  }

  #complain(
    code: 'place-empty' | 'wrong-block' | 'wrong-part',
    op: number,
    rank: number,
    name: number,
    place: number,
    held: number,
  ): void {
    const phase = this.#schedule.opPhase[op]
    this.#found.add(code, rank, phase, () => {
      const isOperand = this.#schedule.opKind[op] === opKind.combine
      const what =
        name >= 0 ? `block ${name}` : `${isOperand ? 'an operand' : 'a partial result'} of part ${~name}`
      const writer = held === empty ? this.#writerInPhase(op, rank, place) : -1
      if (writer !== -1) {
        const how = this.#schedule.opKind[writer] === opKind.receive ? 'receives' : 'computes'
        return `rank ${rank} sends ${what} from place ${place} in phase ${phase}, in which it ${how} it: a send reads what is there when its phase begins`
      }
      const holds = held === empty ? 'nothing yet' : describeTerm(this.terms, held)
      return `rank ${rank} reads ${what} from place ${place} in phase ${phase}, which holds ${holds}`
    })
  }

  /** Returns the operation in the phase of a send that writes a place; -1 if there is none. */
  #writerInPhase(op: number, rank: number, place: number): number {
    const { entryStart, entryTo, opStart, opKind: kinds } = this.#schedule
    if (kinds[op] !== opKind.send) return -1
    const end = endOfPhase(this.#schedule, op, opStart[rank + 1])
    for (let other = op + 1; other < end; other++) {
      for (let e = entryStart[other]; e < entryStart[other + 1]; e++) if (entryTo[e] === place) return other
    }
    return -1
  }
}

/**
 * The contents of every place of every rank, and whether it is read. A rank may claim any number of temporary places,
 * but memory is bounded by the specification and by the places that its operations touch.
 */
class HeldTerms {
  /** The terms, by index of place. */
  readonly holds: Int32Array
  readonly isRead: Uint8Array
  /** The index of the first place of every rank. Length ranks + 1. */
  readonly start: Int32Array
  /** Places of a rank below this have consecutive indices; the others have an entry in `#sparse`. */
  readonly #dense: Int32Array
  readonly #sparse: (ReadonlyMap<number, number> | undefined)[] = []

  /** Fills own places with their blocks; the others hold nothing. */
  constructor(schedule: Schedule) {
    const { ranks, ownStart, ownBlock, slotStart } = schedule.specification
    this.start = new Int32Array(ranks + 1)
    this.#dense = new Int32Array(ranks)
    for (let rank = 0; rank < ranks; rank++) {
      const own = ownStart[rank + 1] - ownStart[rank]
      const fixed = own + slotStart[rank + 1] - slotStart[rank]
      let count = fixed + schedule.staging[rank]
      this.#dense[rank] = count
      if (!usesItsStaging(schedule, rank)) {
        this.#dense[rank] = fixed
        const touched = touchedPlaces(schedule, rank, fixed, this.start[rank])
        this.#sparse[rank] = touched
        count = fixed + touched.size
      }
      this.start[rank + 1] = this.start[rank] + count
    }
    this.holds = new Int32Array(this.start[ranks]).fill(empty)
    this.isRead = new Uint8Array(this.start[ranks])
    for (let rank = 0; rank < ranks; rank++) {
      const shift = this.start[rank] - ownStart[rank]
      for (let own = ownStart[rank]; own < ownStart[rank + 1]; own++) this.holds[own + shift] = ownBlock[own]
    }
  }

  /** Returns the index of a place of a rank. */
  at(rank: number, place: number): number {
    return place < this.#dense[rank] ? this.start[rank] + place : this.#sparse[rank]!.get(place)!
  }

  /** Returns the place that an index stands for. */
  placeAt(rank: number, index: number): number {
    const place = index - this.start[rank]
    if (place < this.#dense[rank]) return place
    for (const [touched, at] of this.#sparse[rank]!) if (at === index) return touched
    return -1
  }
}

/** Whether a rank may use all of its temporary places: an entry touches at most three. */
function usesItsStaging({ staging, opStart, entryStart }: Schedule, rank: number): boolean {
  const entries = entryStart[opStart[rank + 1]] - entryStart[opStart[rank]]
  return staging[rank] <= 3 * entries
}

/** Returns the temporary places that a rank reads or writes. */
function touchedPlaces(
  { opStart, entryStart, entryFrom, entryRight, entryTo }: Schedule,
  rank: number,
  fixed: number,
  start: number,
): Map<number, number> {
  const indices = new Map<number, number>()
  const touch = (place: number): void => {
    if (place >= fixed && !indices.has(place)) indices.set(place, start + fixed + indices.size)
  }
  for (let e = entryStart[opStart[rank]]; e < entryStart[opStart[rank + 1]]; e++) {
    touch(entryFrom[e])
    touch(entryTo[e])
    if (entryRight.length > 0) touch(entryRight[e])
  }
  return indices
}
