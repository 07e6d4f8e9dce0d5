import { concatenate } from '../../base/packing.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { copyOf, type Exchange, noBytes } from '../exchange.js'
import type { ProgramStore } from '../program/run-program.js'
import { type BlockList, decodeList, encodeList, listBytes } from './block-list.js'

/** Returns the blocks that a process contributes as a unit, one for each receiver of the unit. */
export type OwnBlocks = (unit: number) => readonly Uint8Array[]

/**
 * The values of a program that moves blocks of lengths that only their origin knows, for one run. Block u of the
 * schedule, which has no segments, is a list of the blocks of unit u. A frame holds its lists side by side, and
 * processes that relay it read only where each ends.
 */
export class ListStore implements ProgramStore {
  readonly #program: ProcessProgram
  readonly #exchange: Exchange
  readonly #own: OwnBlocks
  readonly #tag: number
  /** The encoded lists: those that arrived, and those that have been sent. */
  readonly #bytes: (Uint8Array | undefined)[]

  constructor(program: ProcessProgram, exchange: Exchange, own: OwnBlocks, tag: number) {
    this.#program = program
    this.#exchange = exchange
    this.#own = own
    this.#tag = tag
    this.#bytes = new Array(program.valueTerm.length)
  }

  pack(frame: number): Uint8Array {
    const { valueStart, value } = this.#program.send
    const [first, end] = [valueStart[frame], valueStart[frame + 1]]
    if (end === first + 1) return this.#encoded(value[first])
    const lists: Uint8Array[] = []
    for (let i = first; i < end; i++) lists.push(this.#encoded(value[i]))
    return lists.length === 0 ? noBytes : concatenate(lists)
  }

  landing(): undefined {
    return undefined
  }

  unpack(frame: number, bytes: Uint8Array, owned: boolean): void {
    const { valueStart } = this.#program.receive
    const lists = owned ? bytes : copyOf(bytes)
    let at = 0
    for (let value = valueStart[frame]; value < valueStart[frame + 1]; value++) {
      const end = at + listBytes(lists, at)
      this.#bytes[value] = lists.subarray(at, end)
      at = end
    }
  }

  combine(): void {}

  /** Returns the lists that have arrived, by unit. */
  arrived(): Map<number, BlockList> {
    const { valueTerm, ownStart } = this.#program
    const lists = new Map<number, BlockList>()
    for (let value = ownStart[ownStart.length - 1]; value < valueTerm.length; value++) {
      lists.set(valueTerm[value], decodeList(this.#exchange, this.#bytes[value]!))
    }
    return lists
  }

  #encoded(value: number): Uint8Array {
    this.#bytes[value] ??= encodeList(this.#exchange, this.#own(this.#program.valueTerm[value]), this.#tag)
    return this.#bytes[value]
  }
}
