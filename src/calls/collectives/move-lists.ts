import { whenThere } from '../../base/turn.js'
import { inOneWay } from '../../collective/ways/families.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import type { Collective } from '../../schedule/specification.js'
import { type Exchange, noBytes } from '../exchange/exchange.js'
import type { CollectiveContext, CollectivePlan } from '../plan/collective-plan.js'
import type { Method } from '../plan/resolve.js'
import { resolvePlanned } from '../plan/resolve.js'
import type { FramePieces, ProgramStore } from '../program/run-program.js'
import { type BlockList, intactSize, isLong, ListStore, type OwnBlocks } from './block-list.js'
import { cutAt } from './move-blocks.js'

/** The plans of a call whose processes do not know each other's lengths. */
export interface ListPlans {
  /** The plan of the lists, without segments: lengths and short blocks. */
  readonly lists: CollectivePlan
  /** Returns the plan of the long blocks, whose lengths the lists have given. */
  readonly long: () => CollectivePlan
  readonly segments: number
}

/** @param root process index */
export function planLists(
  state: CollectiveContext,
  collective: Collective,
  method: Method | undefined,
  root: number,
): ListPlans | Promise<ListPlans> {
  const { plans } = state
  const resolved = (sizeBytes: number) =>
    resolvePlanned(state, { collective, method, sizeBytes, isUnsized: true })
  return whenThere(resolved(0), ({ algorithm }) =>
    whenThere(resolved(Infinity), (long) => ({
      lists: plans.movePlan({ algorithm: inOneWay(algorithm), segments: 1 }, root),
      long: () => plans.movePlan(long, root),
      segments: long.segments,
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
  const longBlocks: OwnBlocks = (unit) => own(unit).filter(isLongBlock)
  const beginPieces = () => {
    const plan = plans.long()
    const pieces = pieceStore(plan, plans.segments, longBlocks, (unit, isRelayed) =>
      placesOf!(unit, isRelayed),
    )
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
    return send.value.some((value) => value < owns && own(valueTerm[value]).some(isLongBlock))
  }

  function isLongBlock(block: Uint8Array): boolean {
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
  segments: number,
  own: OwnBlocks,
  exchange: Exchange,
  placesOf: PlacesOf,
  done: () => void,
): void {
  plan.calls++
  plan.beginPieces(exchange, pieceStore(plan, segments, own, placesOf), done).post()
}

function pieceStore(plan: CollectivePlan, segments: number, own: OwnBlocks, placesOf: PlacesOf): PieceStore {
  const { algorithm, shape, program } = plan
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
