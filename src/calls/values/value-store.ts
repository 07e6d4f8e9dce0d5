import { packBlocks, unpackBlocks } from '../../base/packing.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { copyOf } from '../exchange/exchange.js'
import type { ProgramStore } from '../program/run-program.js'
import type { Combiner } from './combiner.js'
import type { Leaves } from './fold.js'

/**
 * The values of a reduction whose lengths only its run shows: structured clones, for one run. A frame carries the
 * lengths of its values; arrived values are decoded when they are combined.
 */
export class ValueStore implements ProgramStore {
  readonly #program: ProcessProgram
  readonly #combiner: Combiner<unknown>
  readonly #values: unknown[]
  /** The encoded values: those that arrived, and those that have been sent. */
  readonly #bytes: (Uint8Array | undefined)[]
  /** The number of uses of each value. A value that is used once may be overwritten. */
  readonly #uses: Int32Array

  /** @param own what each participant here contributes */
  constructor(program: ProcessProgram, combiner: Combiner<unknown>, own: Leaves<unknown>) {
    const { valueTerm, send, combine, fillStart } = program
    const count = valueTerm.length
    this.#program = program
    this.#combiner = combiner
    this.#values = new Array(count)
    own.values.forEach((value, i) => {
      this.#values[program.ownStart[i]] = value
    })
    this.#bytes = new Array(count)
    this.#uses = Int32Array.from(valueTerm, (_, value) => fillStart[value + 1] - fillStart[value])
    // An additional use protects the contributions of the ranks.
    if (!own.owned) this.#uses.fill(2, 0, own.values.length)
    for (const values of [send.value, combine.left, combine.right]) {
      for (const value of values) this.#uses[value]++
    }
  }

  pack(frame: number): Uint8Array {
    const { valueStart, value } = this.#program.send
    const blocks: Uint8Array[] = []
    for (let i = valueStart[frame]; i < valueStart[frame + 1]; i++) blocks.push(this.bytesOf(value[i]))
    return packBlocks(blocks)
  }

  landing(): undefined {
    return undefined
  }

  unpack(frame: number, bytes: Uint8Array, owned: boolean): void {
    const blocks = unpackBlocks(owned ? bytes : copyOf(bytes))
    const first = this.#program.receive.valueStart[frame]
    for (let i = 0; i < blocks.length; i++) this.#bytes[first + i] = blocks[i]
  }

  combine(combination: number): void {
    const { firstValue, left, right } = this.#program.combine
    const [l, r] = [left[combination], right[combination]]
    this.#values[firstValue + combination] = this.#combiner.combine(
      this.valueOf(l),
      this.#isOwned(l),
      this.valueOf(r),
      this.#isOwned(r),
    )
  }

  /** Returns a value; an arrived one is decoded anew for every use. */
  valueOf(value: number): unknown {
    const bytes = this.#bytes[value]
    return bytes === undefined ? this.#values[value] : this.#combiner.fromBytes(bytes)
  }

  bytesOf(value: number): Uint8Array {
    this.#bytes[value] ??= this.#combiner.toData(this.#values[value]) as Uint8Array
    return this.#bytes[value]
  }

  #isOwned(value: number): boolean {
    return this.#bytes[value] !== undefined || this.#uses[value] === 1
  }
}
