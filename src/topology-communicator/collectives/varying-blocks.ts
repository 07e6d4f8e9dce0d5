import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { RankFailure } from '../../calls/matching/collective-call.js'
import type { BoundProgram } from '../../calls/program/planned-call.js'
import type { CollectiveName } from '../../calls/signature.js'
import {
  BlockStore,
  copyWords,
  elementsOver,
  elementWords,
  newWords,
  smallWords,
  type Words,
  wordsPerElement,
  wordViewOf,
} from '../../calls/values/block-store.js'
import { countsOf, type Layout, packedDispls } from '../../calls/values/deliver.js'
import type { Gathered } from '../../calls/values/placement.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import {
  elementSizeBytes,
  newArray,
  requireIntact,
  type TypedArray,
} from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import type { NeighborProgram } from '../plan/neighbor-program.js'
import { chosenAlltoall, type Neighborhood } from '../plan/neighborhood.js'
import { checkInto, contributionOf, NeighborCall } from './neighbor-call.js'

/** The blocks that a rank sends along its edges: block j is `counts[j]` elements from `starts[j]` on. */
export interface EdgeBlocks {
  /** The wire code of the elements. */
  readonly type: number
  readonly elements: TypedArray
  readonly starts: Int32Array
  readonly counts: Int32Array
}

/**
 * Lists blocks of any lengths, by default side by side.
 *
 * @throws ERR_TYPE unless the data are elements; ERR_COUNT without one count and displacement per block, or for one
 *   outside the elements
 */
export function countedEdgeBlocks(
  name: string,
  data: unknown,
  slots: number,
  counts: ArrayLike<number>,
  displs: ArrayLike<number> | undefined,
): EdgeBlocks {
  const { type, elements } = contributionOf(name, data)
  const lengths = countsOf(`${name}: sendCounts`, counts, slots, 'destination')
  const starts =
    displs === undefined
      ? packedDispls(lengths)
      : countsOf(`${name}: sendDispls`, displs, slots, 'destination')
  for (let slot = 0; slot < slots; slot++) {
    const end = starts[slot] + lengths[slot]
    if (lengths[slot] > 0 && end > elements.length) {
      const message = `${name}: block ${slot} ends at element ${end}, but the data has ${elements.length} of ${elementSizeBytes(type)} bytes`
      throw new RankweaveError('ERR_COUNT', message, { details: { slot } })
    }
  }
  return { type, elements, starts, counts: lengths }
}

/** A rank's contribution to a collective of blocks of varying lengths. */
interface VaryingContribution {
  readonly blocks: EdgeBlocks
  readonly layout: Layout
}

/**
 * A collective whose blocks vary in length. A call that runs once sends lengths in its frames, so no receiver needs to
 * know them before; a persistent one exchanges them at its init.
 */
export class VaryingCall extends NeighborCall<VaryingContribution> {
  readonly #name: string
  readonly #type: number
  readonly #operation: 'neighbor-allgather' | 'neighbor-alltoall'

  constructor(
    neighborhood: Neighborhood,
    operation: 'neighbor-allgather' | 'neighbor-alltoall',
    name: CollectiveName | 'neighborAllgathervInit',
    type: number,
  ) {
    super({ name: name === 'neighborAllgathervInit' ? 'neighborAllgatherInit' : name, type }, neighborhood)
    this.#name = name
    this.#type = type
    this.#operation = operation
  }

  override chosen(): Neighborhood | Promise<Neighborhood> {
    const { neighborhood } = this
    return this.#operation === 'neighbor-alltoall'
      ? chosenAlltoall(neighborhood, null)
      : neighborhood.forBlocks(null)
  }

  override bindTo(
    by: Neighborhood,
    all: readonly VaryingContribution[],
    init?: Exchange,
  ): BoundProgram | Promise<BoundProgram> {
    const plan = by.operation(this.#operation)
    const type = this.#type
    const blocks = all.map((each) => each.blocks)
    if (init === undefined) return this.#bound(plan, openStore(plan, type, blocks), all)
    const lengths = plan.exchangeIntegers(init, 1, (words) => {
      eachOwn(plan, blocks, (value, { counts }, slot) => {
        words[value] = counts[slot] * elementWords(type)
      })
    })
    return lengths.then((known) =>
      this.#bound(plan, BlockStore.of(plan.program, elementSizeBytes(type), known), all),
    )
  }

  #bound(plan: NeighborProgram, store: BlockStore, all: readonly VaryingContribution[]): BoundProgram {
    const { neighborhood } = this
    const type = this.#type
    const wanted = all.map((each) => each.layout)
    const deliveryOf = () => varyingDelivery(this.#name, neighborhood, plan.program, store, type, wanted)
    // Starts deliver to the same places, and their ranks get no result.
    const known = store.sized ? deliveryOf() : undefined
    return {
      plan,
      store,
      fill: filling(
        plan,
        store,
        type,
        all.map((each) => each.blocks),
      ),
      deliver() {
        const delivery = known ?? deliveryOf()
        delivery.fill()
        return known === undefined ? delivery.gathered() : known.failures
      },
    }
  }
}

/** Makes a store for blocks whose lengths travel with them. */
export function openStore(
  { program }: NeighborProgram,
  type: number,
  blocks: readonly EdgeBlocks[],
): BlockStore {
  const perElement = elementWords(type)
  const ownWords = blocks.reduce((sum, { elements }) => sum + elements.length * perElement, 0)
  return BlockStore.open(program, elementSizeBytes(type), ownWords)
}

/** Returns the function that writes the blocks that the ranks send into the store. */
export function filling(
  plan: NeighborProgram,
  store: BlockStore,
  type: number,
  blocks: readonly EdgeBlocks[],
): () => void {
  const perElement = elementWords(type)
  const views = blocks.map(({ elements }) => wordViewOf(elements))
  return () =>
    eachOwn(plan, blocks, (value, { starts, counts }, slot, i) => {
      if (!store.sized) store.extend(value, counts[slot] * perElement)
      store.put(value, views[i], starts[slot] * perElement)
    })
}

/** Visits the values that the ranks here contribute, with the block that each is. */
function eachOwn(
  plan: NeighborProgram,
  blocks: readonly EdgeBlocks[],
  visit: (value: number, blocks: EdgeBlocks, slot: number, i: number) => void,
): void {
  const { ownStart } = plan.program
  for (let i = 0; i < blocks.length; i++) {
    for (let value = ownStart[i]; value < ownStart[i + 1]; value++)
      visit(value, blocks[i], plan.slotOf(i, value), i)
  }
}

/** The delivery of a store's blocks whose lengths are known. All lists are by hosted rank. */
interface VaryingDelivery {
  /** The failures of ranks whose counts or buffer do not fit; their blocks go to buffers that are dropped. */
  readonly failures: readonly (RankFailure | undefined)[]
  /** Copies the present values of the store. */
  fill(): void
  /** Returns what every hosted rank gets, or its failure. */
  gathered(): (Gathered<TypedArray> | RankFailure)[]
}

function varyingDelivery(
  name: string,
  neighborhood: Neighborhood,
  program: ProcessProgram,
  store: BlockStore,
  type: number,
  wanted: readonly Layout[],
): VaryingDelivery {
  const counts = slotCounts(neighborhood, program, store, type)
  const layouts = wanted.map((options, i) => receiveLayout(name, type, counts[i], options))
  const sizes = layouts.map(({ size }) => size)
  const buffers = receiveBuffers(type, sizes, (i) => layouts[i].into)
  const displs = layouts.map((layout) => layout.displs)
  const fillTo = varyingFill(program, displs, type)
  const failures = layouts.map(({ failure }) => failure)
  return {
    failures,
    fill: () => fillSlots(program, store, buffers, fillTo),
    gathered: () =>
      buffers.results().map((data, i) => failures[i] ?? { data, counts: counts[i], displs: displs[i] }),
  }
}

/** Returns the number of elements of every slot of every hosted rank; 0 on a grid without a neighbor there. */
function slotCounts(
  neighborhood: Neighborhood,
  { ranks, fillStart, fillRank, fillSlot }: ProcessProgram,
  store: BlockStore,
  type: number,
): Int32Array[] {
  const perElement = elementWords(type)
  const counts = Array.from(ranks, (rank) => new Int32Array(neighborhood.slotsOf(rank)))
  for (let v = 0; v + 1 < fillStart.length; v++) {
    const count = store.length[v] / perElement
    for (let f = fillStart[v]; f < fillStart[v + 1]; f++) counts[fillRank[f]][fillSlot[f]] = count
  }
  return counts
}

/**
 * Returns the word at which each slot begins, given the displacements `displs[i][slot]` in elements of the i-th hosted
 * rank's buffer.
 */
function varyingFill(
  { fillRank, fillSlot }: ProcessProgram,
  displs: readonly Int32Array[],
  type: number,
): Int32Array {
  const perElement = elementWords(type)
  return fillSlot.map((slot, f) => displs[fillRank[f]][slot] * perElement)
}

const packed = { counts: undefined, displs: undefined }

interface ReceiveLayout extends BlockLayout {
  readonly into: TypedArray | undefined
  /**
   * The failure of a rank whose counts or buffer did not fit. The rank fails alone, and its blocks go to a buffer that
   * is dropped.
   */
  readonly failure?: RankFailure
}

function receiveLayout(name: string, type: number, arrived: Int32Array, wanted: Layout): ReceiveLayout {
  try {
    const layout = blockLayout(name, arrived, wanted)
    checkInto(name, wanted.into, type, layout.size)
    // Displacements may need more memory than is available.
    const mustMake = wanted.into === undefined && wanted.displs !== undefined
    return { ...layout, into: mustMake ? newArray(type, layout.size) : wanted.into }
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    return { ...blockLayout(name, arrived, packed), into: undefined, failure: new RankFailure(error) }
  }
}

/**
 * Copies every value into the slots it fills.
 *
 * @param receive the receive buffers of the hosted ranks
 * @param fillTo the place in its rank's buffer of each fill of the program
 */
function fillSlots(
  { fillStart, fillRank }: ProcessProgram,
  { words, start, length }: BlockStore,
  receive: Pick<ReceiveBuffers, 'words' | 'base'>,
  fillTo: Int32Array,
): void {
  for (const target of receive.words) requireIntact(target)
  for (let v = 0; v + 1 < fillStart.length; v++) {
    const from = start[v]
    const count = length[v]
    for (let f = fillStart[v]; f < fillStart[v + 1]; f++) {
      const rank = fillRank[f]
      copyWords(words, from, receive.words[rank], receive.base[rank] + fillTo[f], count)
    }
  }
}

/** The receive buffers of the ranks of one process while their slots are filled. */
interface ReceiveBuffers {
  /** The buffer of the i-th rank is in `words[i]`, from `base[i]` on. */
  readonly words: readonly Words[]
  readonly base: Int32Array
  /** Returns the filled buffers: fresh arrays, or those that the ranks passed. */
  results(): TypedArray[]
}

/**
 * Returns buffers of a type: those that the ranks pass, or fresh ones. A view of each costs more than copying a few
 * blocks twice, so small fresh ones become arrays only when they are filled.
 *
 * @param sizes the number of elements of every rank's buffer
 * @param intoOf returns the buffer that a rank passed to be filled
 */
function receiveBuffers(
  type: number,
  sizes: ArrayLike<number>,
  intoOf: (index: number) => TypedArray | undefined,
): ReceiveBuffers {
  const count = sizes.length
  const perElement = wordsPerElement(elementSizeBytes(type))
  let total = 0
  for (let i = 0; i < count; i++) if (intoOf(i) === undefined) total += sizes[i]
  const base = new Int32Array(count)
  if (total * perElement > smallWords * count) {
    const arrays = Array.from({ length: count }, (_, i) => intoOf(i) ?? newArray(type, sizes[i]))
    return { words: arrays.map(wordViewOf), base, results: () => arrays }
  }
  const arena = newWords(elementSizeBytes(type), total * perElement)
  const words: Words[] = new Array(count)
  let next = 0
  for (let i = 0; i < count; i++) {
    const into = intoOf(i)
    if (into !== undefined) {
      words[i] = wordViewOf(into)
      continue
    }
    words[i] = arena
    base[i] = next
    next += sizes[i] * perElement
  }
  const results = (): TypedArray[] => {
    const elements = elementsOver(type, arena)
    return words.map((_, i) => {
      const first = base[i] / perElement
      return intoOf(i) ?? elements.slice(first, first + sizes[i])
    })
  }
  return { words, base, results }
}

/** The places of blocks in a receive buffer, in elements. */
interface BlockLayout {
  readonly displs: Int32Array
  /** The number of elements that the buffer needs. */
  readonly size: number
}

/** The counts of blocks that the caller expects, and their places. */
export interface BlockLayoutOptions {
  readonly counts?: ArrayLike<number>
  readonly displs?: ArrayLike<number>
}

export const blockLayoutOptions: OptionTable<BlockLayoutOptions> = {
  ...uncheckedOptions('counts', 'displs'),
}

/**
 * Places blocks at the caller's displacements, or packs them in slot order.
 *
 * @param arrived the number of elements of every block
 * @throws ERR_COUNT when the caller expected other counts
 */
function blockLayout(
  name: string,
  arrived: Int32Array,
  { counts, displs }: Pick<Layout, 'counts' | 'displs'>,
): BlockLayout {
  if (counts !== undefined) checkCounts(name, arrived, counts)
  const starts = displs ?? new Int32Array(arrived.length)
  let size = 0
  for (let slot = 0; slot < arrived.length; slot++) {
    if (displs === undefined) starts[slot] = size
    size = Math.max(size, starts[slot] + arrived[slot])
  }
  return { displs: starts, size }
}

function checkCounts(name: string, arrived: Int32Array, counts: Int32Array): void {
  for (let slot = 0; slot < arrived.length; slot++) {
    if (counts[slot] === arrived[slot]) continue
    const message = `${name}: expected ${counts[slot]} elements in block ${slot}, ${arrived[slot]} arrived`
    throw new RankweaveError('ERR_COUNT', message, {
      details: { slot, expected: counts[slot], arrived: arrived[slot] },
    })
  }
}
