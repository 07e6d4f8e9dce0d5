import { copyBytes, roundUp } from '../../base/bytes.js'
import { concatenate } from '../../base/packing.js'
import { whenThere } from '../../base/turn.js'
import { inOneWay } from '../../collective/ways/families.js'
import { requireIntact, typeCode } from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import type { Collective } from '../../schedule/specification.js'
import { copyOf, type Exchange, noBytes } from '../exchange/exchange.js'
import type { CollectiveContext, CollectivePlan, Resolution } from '../plan/collective-plan.js'
import { isLongBlock } from '../plan/default-rule.js'
import type { Method } from '../plan/method.js'
import { resolve } from '../plan/resolve.js'
import type { FramePieces, ProgramStore } from '../program/run-program.js'
import { ElementStore, type LengthOf, MoveMemory } from '../values/element-store.js'

/**
 * Runs a plan that moves blocks of bytes and combines none.
 *
 * @param lengthOf bytes of every block
 * @param own what the participants here contribute, in the order of their own places
 * @param slots memory for their slots, in order; where a rank's own block belongs it may hold it already
 * @param done called when the slots are filled; what is contributed may still be read (`exchange.whenSent`)
 */
export function moveBlocks(
  plan: CollectivePlan,
  lengthOf: LengthOf,
  own: readonly Uint8Array[],
  slots: Uint8Array,
  exchange: Exchange,
  done: () => void,
): void {
  const store = new ElementStore(plan.program, plan.memory(), typeCode.Uint8Array, lengthOf, undefined)
  store.bind(own, slots)
  plan.run(exchange, store, () => {
    store.finish()
    done()
  })
}

/**
 * Runs such a plan for blocks of one length, in memory that the plan retains if it is little.
 *
 * @param ownBytes that the participants here contribute together
 * @param fill writes them
 * @param done gets the slots, which are valid until it returns
 */
export function moveShort(
  plan: CollectivePlan,
  sizeBytes: number,
  lengthOf: LengthOf,
  ownBytes: number,
  fill: (own: Uint8Array) => void,
  exchange: Exchange,
  done: (slots: Uint8Array) => void,
): void {
  const spare = plan.takeMemory()
  const memory =
    spare instanceof MoveMemory && spare.sizeBytes === sizeBytes
      ? spare
      : new MoveMemory(plan.program, plan.memory(), sizeBytes, lengthOf, ownBytes)
  fill(memory.own)
  plan.run(exchange, memory.bind(), () => {
    memory.store.finish()
    done(memory.slots)
    if (memory.isRetained) plan.retain(memory, exchange)
  })
}

/** Returns the start of part p if a unit of data is cut into parts that differ by one at most. */
function cutAt(length: number, parts: number, part: number): number {
  return Math.floor((length * part) / parts)
}

/**
 * Returns the lengths of blocks that are numbered by participant, then segment.
 *
 * @param sizeOf bytes of the unit with this number
 */
export function segmentLengths(sizeOf: (unit: number) => number, segments: number): LengthOf {
  return (block) => {
    const size = sizeOf(Math.floor(block / segments))
    const segment = block % segments
    return cutAt(size, segments, segment + 1) - cutAt(size, segments, segment)
  }
}

/** Returns the lengths of the blocks of units of one length, cut into `parts`. */
export function unitLengths(sizeBytes: number, parts: number): LengthOf {
  return segmentLengths(() => sizeBytes, parts)
}

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
function intactSize(block: Uint8Array): number {
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
function listBytes(bytes: Uint8Array, at: number): number {
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
class ListStore implements ProgramStore {
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

/** The plans of a call whose processes do not know each other's lengths. */
export interface ListPlans {
  /** The plan of the lists, without segments: lengths and short blocks. */
  readonly lists: CollectivePlan
  /** Returns the plan of the long blocks, whose lengths the lists have given. */
  readonly long: () => CollectivePlan
}

/** @param root process index */
export function planLists(
  state: CollectiveContext,
  collective: Collective,
  method: Method | undefined,
  root: number,
): ListPlans | Promise<ListPlans> {
  const { plans } = state
  // The rule has an algorithm for every collective that moves lists.
  const resolved = (sizeBytes: number) =>
    resolve(state, { collective, method, sizeBytes, isUnsized: true }) as Resolution | Promise<Resolution>
  return whenThere(resolved(0), ({ algorithm }) =>
    whenThere(resolved(Infinity), (long) => ({
      lists: plans.movePlan({ algorithm: inOneWay(algorithm), segments: 1 }, root),
      long: () => plans.movePlan(long, root),
    })),
  )
}

/**
 * Moves blocks of lengths that only their origin knows: first lists, which contain the short blocks, then the long
 * blocks one by one. Blocks that are here leave at once. Blocks to come are received when their lengths are known.
 *
 * @param own blocks of the units that are contributed here
 * @param tag what the origin adds to every list
 * @param meet called when all lists that this process gets are here, by unit: makes room for their long blocks
 * @param done called when these are there
 */
export function moveLists(
  plans: ListPlans,
  own: OwnBlocks,
  tag: number,
  exchange: Exchange,
  meet: (lists: ReadonlyMap<number, BlockList>) => PlacesOf,
  done: () => void,
): undefined {
  const { program } = plans.lists
  const store = new ListStore(program, exchange, own, tag)
  let placesOf: PlacesOf | undefined
  const longBlocks: OwnBlocks = (unit) => own(unit).filter(travelsAlone)
  const beginPieces = () => {
    const plan = plans.long()
    const pieces = pieceStore(plan, longBlocks, (unit, isRelayed) => placesOf!(unit, isRelayed))
    return plan.beginPieces(exchange, pieces, done)
  }
  const run = plans.lists.begin(exchange, store, () => {
    const lists = store.arrived()
    placesOf = meet(lists)
    if (early !== undefined) early.post()
    else if (hasLong(lists)) beginPieces().post()
    else done()
  })
  const early = sendsLong() ? beginPieces() : undefined
  run.post()

  function sendsLong(): boolean {
    const { ownStart, valueTerm, send } = program
    const owns = ownStart[ownStart.length - 1]
    return send.value.some((value) => value < owns && own(valueTerm[value]).some(travelsAlone))
  }

  function travelsAlone(block: Uint8Array): boolean {
    return isLong(exchange, intactSize(block))
  }
}

function hasLong(lists: ReadonlyMap<number, BlockList>): boolean {
  for (const { short } of lists.values()) if (short.includes(undefined)) return true
  return false
}

/** Returns memory for the long blocks of a unit that is only relayed. */
export function relayPlaces(exchange: Exchange, { sizes }: Pick<BlockList, 'sizes'>): Uint8Array[] {
  return sizes.filter((size) => isLong(exchange, size)).map((size) => new Uint8Array(size))
}

/** Moves long blocks of lengths that all processes know, like the second part of {@link moveLists}. */
export function movePieces(
  plan: CollectivePlan,
  own: OwnBlocks,
  exchange: Exchange,
  placesOf: PlacesOf,
  done: () => void,
): void {
  plan.calls++
  plan.beginPieces(exchange, pieceStore(plan, own, placesOf), done).post()
}

function pieceStore(plan: CollectivePlan, own: OwnBlocks, placesOf: PlacesOf): PieceStore {
  const { algorithm, shape, program, segments } = plan
  const { ranks, root = 0 } = shape
  const originOf = (unit: number): number => {
    if (algorithm.collective === 'scatter') return root
    return algorithm.collective === 'alltoall' ? Math.floor(unit / ranks) : unit
  }
  return new PieceStore(program, segments, originOf, own, placesOf)
}

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
class PieceStore implements ProgramStore, FramePieces {
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
