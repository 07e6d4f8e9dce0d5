import type { ProcessProgram } from '../../schedule/lower/program.js'
import { noBytes } from '../exchange/exchange.js'
import type { FramePieces, ProgramStore } from '../program/run-program.js'
import type { OwnBlocks } from './block-list.js'
import { cutAt } from './move-blocks.js'

/** Blocks in memory; null for those that are not wanted. */
export type BlockMemory = readonly (Uint8Array | null)[]

/**
 * Returns the memory into which the blocks of an arriving unit are written.
 *
 * @param isRelayed whether they are sent on, and need memory anyway
 */
export type PlacesOf = (unit: number, isRelayed: boolean) => BlockMemory

/**
 * The values of a program that moves long blocks, each from its origin's array into its destination's, for one run.
 * Block `unit * segments + s` of the schedule is segment s of every block of the unit.
 *
 * A schedule may bring blocks back to their origin. They are not sent there, since it sends them from its own memory.
 */
export class PieceStore implements ProgramStore, FramePieces {
  readonly pieces = this
  readonly #program: ProcessProgram
  readonly #segments: number
  readonly #own: OwnBlocks
  readonly #placesOf: PlacesOf
  readonly #originOf: (unit: number) => number
  /** The memory of blocks by unit; of units that are contributed here, that of the caller. */
  readonly #places = new Map<number, BlockMemory>()
  /** Whether each value is relayed; made when the first block arrives. */
  #relayed: Uint8Array | undefined

  /** @param originOf the process that contributes a unit */
  constructor(
    program: ProcessProgram,
    segments: number,
    originOf: (unit: number) => number,
    own: OwnBlocks,
    placesOf: PlacesOf,
  ) {
    this.#program = program
    this.#segments = segments
    this.#originOf = originOf
    this.#own = own
    this.#placesOf = placesOf
  }

  sent(frame: number): readonly Uint8Array[] {
    const { valueStart, value, peer } = this.#program.send
    const pieces: Uint8Array[] = []
    for (let i = valueStart[frame]; i < valueStart[frame + 1]; i++) {
      if (this.#originOf(this.#unitOf(value[i])) === peer[frame]) continue
      // Blocks that are relayed have places.
      for (const piece of this.#piecesOf(value[i])) pieces.push(piece!)
    }
    return pieces
  }

  received(frame: number): BlockMemory {
    const { valueStart } = this.#program.receive
    const pieces: (Uint8Array | null)[] = []
    for (let value = valueStart[frame]; value < valueStart[frame + 1]; value++) {
      if (this.#originOf(this.#unitOf(value)) === this.#program.process) continue
      for (const piece of this.#piecesOf(value)) pieces.push(piece)
    }
    return pieces
  }

  #unitOf(value: number): number {
    return Math.floor(this.#program.valueTerm[value] / this.#segments)
  }

  #piecesOf(value: number): BlockMemory {
    const segments = this.#segments
    const unit = this.#unitOf(value)
    let places = this.#places.get(unit)
    if (places === undefined) {
      const isOwn = this.#originOf(unit) === this.#program.process
      places = isOwn ? this.#own(unit) : this.#placesOf(unit, this.#isRelayed(value))
      this.#places.set(unit, places)
    }
    if (segments === 1) return places
    const segment = this.#program.valueTerm[value] % segments
    return places.map((place) => {
      if (place === null) return null
      const { byteLength } = place
      return place.subarray(cutAt(byteLength, segments, segment), cutAt(byteLength, segments, segment + 1))
    })
  }

  #isRelayed(value: number): boolean {
    if (this.#relayed === undefined) {
      this.#relayed = new Uint8Array(this.#program.valueTerm.length)
      for (const sent of this.#program.send.value) this.#relayed[sent] = 1
    }
    return this.#relayed[value] === 1
  }

  pack(): Uint8Array {
    return noBytes
  }

  landing(): undefined {
    return undefined
  }

  unpack(): void {}

  combine(): void {}
}
