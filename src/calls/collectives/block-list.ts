import { copyBytes, roundUp } from '../../base/bytes.js'
import { concatenate } from '../../base/packing.js'
import { requireIntact } from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { copyOf, type Exchange, noBytes } from '../exchange/exchange.js'
import { isLongBlock } from '../plan/default-rule.js'
import type { ProgramStore } from '../program/run-program.js'

/** The blocks that one process has for another, or for all, of lengths that only it knows. */
export interface BlockList {
  /** A number that the origin adds: the wire code of the elements. */
  readonly tag: number
  readonly sizes: readonly number[]
  /** The bytes of the short blocks; undefined for long ones, which follow. */
  readonly short: readonly (Uint8Array | undefined)[]
}

/** Returns the list of blocks that stay within a process; it contains all of them. */
export function ownList(blocks: readonly Uint8Array[]): BlockList {
  return { tag: 0, sizes: blocks.map(intactSize), short: blocks }
}

/** Tells whether a block of this size travels separately from its list. Processes that both know the size agree. */
export function isLong({ eagerLimitBytes }: Pick<Exchange, 'eagerLimitBytes'>, sizeBytes: number): boolean {
  return isLongBlock({ eagerLimitBytes, sizeBytes })
}

/**
 * Returns the bytes of a block that a rank contributes.
 *
 * @throws ERR_FABRIC when its buffer was detached, since that is not an empty block
 */
export function intactSize(block: Uint8Array): number {
  if (block.byteLength === 0) requireIntact(block)
  return block.byteLength
}

/**
 * Encodes a list as bytes, a multiple of 8. It holds the number of its bytes, the tag, the number of blocks, and the
 * size that all share, or -1 and each size. Then come the short blocks, each at a multiple of 8.
 */
export function encodeList(exchange: Exchange, blocks: readonly Uint8Array[], tag = 0): Uint8Array {
  const count = blocks.length
  const same = count > 0 ? blocks[0].byteLength : 0
  let areSame = true
  let short = 0
  for (const block of blocks) {
    const byteLength = intactSize(block)
    if (byteLength !== same) areSame = false
    if (!isLong(exchange, byteLength)) short += roundUp(byteLength, 8)
  }
  let at = 8 * (areSame ? 4 : 4 + count)
  const bytes = new Uint8Array(at + short)
  const head = new Float64Array(bytes.buffer, 0, at / 8)
  head[0] = bytes.byteLength
  head[1] = tag
  head[2] = count
  head[3] = areSame ? same : -1
  for (let i = 0; i < count; i++) {
    const { byteLength } = blocks[i]
    if (!areSame) head[4 + i] = byteLength
    if (isLong(exchange, byteLength)) continue
    copyBytes(bytes, at, blocks[i])
    at += roundUp(byteLength, 8)
  }
  return bytes
}

/**
 * Returns the bytes of the list that begins at an offset.
 *
 * @param at a multiple of 8, as `bytes` begin in their buffer
 */
export function listBytes(bytes: Uint8Array, at: number): number {
  return new Float64Array(bytes.buffer, bytes.byteOffset + at, 1)[0]
}

/** Decodes a list. The short blocks are views of the bytes, which begin at a multiple of 8 in their buffer. */
export function decodeList(exchange: Exchange, bytes: Uint8Array): BlockList {
  const words = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 3)
  const [tag, count, same] = [words[1], words[2], words[3]]
  let at = 8 * (same < 0 ? 4 + count : 4)
  const sizes: number[] = []
  const short: (Uint8Array | undefined)[] = []
  for (let i = 0; i < count; i++) {
    const size = same < 0 ? words[4 + i] : same
    sizes.push(size)
    if (isLong(exchange, size)) short.push(undefined)
    else {
      short.push(bytes.subarray(at, at + size))
      at += roundUp(size, 8)
    }
  }
  return { tag, sizes, short }
}

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
