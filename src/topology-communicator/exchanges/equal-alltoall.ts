import { whenThere } from '../../base/turn.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { type CollectiveCall, RankFailure } from '../../calls/matching/collective-call.js'
import { ProgramRun } from '../../calls/program/run-program.js'
import type { CollectiveName, Signature } from '../../calls/signature.js'
import { countsOf, packedDispls } from '../../calls/values/deliver.js'
import { isRankweaveError, RankweaveError, wrongValue } from '../../errors.js'
import { elementSizeBytes, newArray, type TypedArray } from '../../messages/datatype/elements.js'
import { chosenAlltoall, isChosenByLength } from '../execute/chosen.js'
import { countRun } from '../execute/neighbor-traffic.js'
import type { Neighborhood } from '../execute/neighborhood.js'
import type { OperationProgram } from '../execute/placement.js'
import { checkInto, contributionOf, copyWords, wordViewOf } from '../memory/buffers.js'
import { RankResults } from '../memory/slot-list.js'
import { LearningStore, SpareRun, UniformStore } from '../memory/uniform-store.js'

export interface EqualBlocks {
  readonly elements: TypedArray
  /** The number of elements of a block; null for a rank whose buffer has no block, which does not know. */
  readonly count: number | null
  readonly into: TypedArray | undefined
}

/** Checks what a rank passes. The receive buffer is checked only if the rank knows the length of blocks. */
export function equalSendOf(
  name: CollectiveName,
  neighborhood: Neighborhood,
  rank: number,
  data: unknown,
  into: TypedArray | undefined,
): { readonly type: number; readonly blocks: EqualBlocks } {
  const sendSlots = neighborhood.sendSlotsOf(rank)
  const { type, elements, count } = equalEdgeBlocks(name, data, sendSlots)
  checkInto(name, into, type, count === null ? 0 : neighborhood.slotsOf(rank) * count)
  return { type, blocks: { elements, count, into } }
}

const spares = new WeakMap<OperationProgram, SpareRun<UniformStore>>()

/**
 * Exchanges blocks of one length. Frames are exactly as long as their blocks, and land in their places. A process none
 * of whose ranks has a destination learns the length from the first frame.
 */
export function equalCall(
  localRanks: Int32Array,
  neighborhood: Neighborhood,
  type: number,
  count: number | null,
): CollectiveCall<EqualBlocks, TypedArray | RankFailure> {
  const signature = equalSignature('neighborAlltoall', neighborhood, type, count)
  return {
    signature,
    unplaced: neighborhood.isLocated,
    run(blocks, exchange) {
      const agreed = agreedCount(signature.name, localRanks, blocks)
      const start = (by: Neighborhood) => exchangeEqual(by, type, agreed, blocks, exchange)
      return whenThere(chosenAlltoall(neighborhood, bytesOfBlocks(type, agreed)), start)
    },
  }
}

/**
 * Returns the signature of an alltoall of equal blocks. It includes the length of blocks if the strategy is chosen by
 * it.
 */
export function equalSignature(
  name: CollectiveName,
  neighborhood: Neighborhood,
  type: number,
  count: number | null,
): Signature {
  return count !== null && isChosenByLength(neighborhood) ? { name, type, count } : { name, type }
}

/** Returns the bytes of a block; null if no rank here knows. */
export function bytesOfBlocks(type: number, count: number | null): number | null {
  return count === null ? null : count * elementSizeBytes(type)
}

function exchangeEqual(
  neighborhood: Neighborhood,
  type: number,
  count: number | null,
  blocks: readonly EqualBlocks[],
  exchange: Exchange,
): undefined {
  const operation = neighborhood.operation('neighbor-alltoall')
  const { program } = operation
  const delivery = new Delivery(neighborhood, operation, 'neighborAlltoall', type)
  if (count === null) {
    const store = new LearningStore(program, type)
    new ProgramRun(program).start(exchange, store, () =>
      exchange.finish(delivery.results(store.learned, blocks)),
    )
    return undefined
  }
  const spare = spareOf(operation)
  const newStore = () => new UniformStore(program, type, elementSizeBytes(type), count)
  const memory = spare.take(program, type, count, newStore)
  fillBlocks(operation, blocks, memory.store)
  memory.run.start(exchange, memory.store, () => {
    const results = delivery.results(memory.store, blocks)
    spare.put(memory, exchange)
    exchange.finish(results)
  })
  return undefined
}

function spareOf(operation: OperationProgram): SpareRun<UniformStore> {
  let spare = spares.get(operation)
  if (spare === undefined) {
    spare = new SpareRun()
    spares.set(operation, spare)
  }
  return spare
}

/** @returns null if no rank here knows @throws ERR_COLLECTIVE_MISMATCH */
export function agreedCount(
  name: CollectiveName,
  ranks: Int32Array,
  blocks: readonly EqualBlocks[],
): number | null {
  const first = blocks.findIndex(({ count }) => count !== null)
  if (first < 0) return null
  const { count } = blocks[first]
  for (const [i, each] of blocks.entries()) {
    if (each.count === null || each.count === count) continue
    throw new RankweaveError(
      'ERR_COLLECTIVE_MISMATCH',
      `${name}: rank ${ranks[first]} passes blocks of ${count} elements, rank ${ranks[i]} of ${each.count}`,
      { details: { rank: ranks[i], other: ranks[first] } },
    )
  }
  return count
}

/** Copies the blocks that the ranks send into the values of the store. */
export function fillBlocks(
  operation: OperationProgram,
  blocks: readonly EqualBlocks[],
  { words, elements, width }: UniformStore,
): void {
  const { program, ownSlot } = operation
  const { ownStart } = program
  for (let i = 0; i < blocks.length; i++) {
    const sent = blocks[i].elements
    const first = ownStart[i]
    if (first === ownStart[i + 1]) continue
    if (ownSlot === null) {
      ;(elements as Float64Array).set(sent as Float64Array, first * blocks[i].count!)
      continue
    }
    const from = wordViewOf(sent)
    for (let value = first; value < ownStart[i + 1]; value++) {
      copyWords(from, ownSlot[value] * width, words, value * width, width)
    }
  }
}

/** Delivers blocks to the ranks that get them. */
export class Delivery {
  readonly #neighborhood: Neighborhood
  readonly #operation: OperationProgram
  readonly #name: CollectiveName
  readonly #type: number
  readonly #results: RankResults

  constructor(neighborhood: Neighborhood, operation: OperationProgram, name: CollectiveName, type: number) {
    this.#neighborhood = neighborhood
    this.#operation = operation
    this.#name = name
    this.#type = type
    this.#results = new RankResults(type)
  }

  /** Returns the results after a run. @param store undefined if there was no block */
  results(store: UniformStore | undefined, blocks: readonly EqualBlocks[]): (TypedArray | RankFailure)[] {
    countRun(this.#neighborhood.traffic, this.#operation.program.counts)
    const results: (TypedArray | RankFailure)[] = new Array(blocks.length)
    for (let i = 0; i < blocks.length; i++) results[i] = this.#result(store, i, blocks[i])
    return results
  }

  #result(
    store: UniformStore | undefined,
    i: number,
    { count, into }: EqualBlocks,
  ): TypedArray | RankFailure {
    const { program, slots } = this.#operation
    const size = store === undefined ? 0 : this.#neighborhood.slotsOf(program.ranks[i]) * store.countElems
    if (count === null) {
      // The buffers of other ranks have been checked before.
      const failure = misfitOf(this.#name, into, this.#type, size)
      if (failure !== undefined) return failure
    }
    const target = into ?? newArray(this.#type, size)
    if (store !== undefined) this.#results.fill(slots, i, store, target, size, !this.#neighborhood.isGrid)
    return target
  }
}

function misfitOf(
  name: CollectiveName,
  into: TypedArray | undefined,
  type: number,
  countElems: number,
): RankFailure | undefined {
  try {
    checkInto(name, into, type, countElems)
    return undefined
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    return new RankFailure(error)
  }
}

export function isFailure(result: TypedArray | RankFailure): result is RankFailure {
  return result instanceof RankFailure
}

/** The blocks that a rank sends along its edges: block j is `counts[j]` elements from `starts[j]` on. */
export interface EdgeBlocks {
  /** The wire code of the elements. */
  readonly type: number
  readonly elements: TypedArray
  readonly starts: Int32Array
  readonly counts: Int32Array
}

/**
 * Cuts a buffer into blocks of one length, side by side. `count` is null for a buffer without blocks.
 *
 * @param slots blocks of the send buffer
 * @throws ERR_TYPE unless the data are elements; ERR_COUNT when they cannot be cut into so many blocks
 */
function equalEdgeBlocks(
  name: string,
  data: unknown,
  slots: number,
): { readonly type: number; readonly elements: TypedArray; readonly count: number | null } {
  const { type, elements } = contributionOf(name, data)
  const count = slots === 0 ? 0 : elements.length / slots
  if (!Number.isInteger(count) || (slots === 0 && elements.length > 0)) {
    const expected = `${name}: expected a multiple of ${slots} elements, one block per destination`
    throw wrongValue('ERR_COUNT', expected, elements.length)
  }
  return { type, elements, count: slots === 0 ? null : count }
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
