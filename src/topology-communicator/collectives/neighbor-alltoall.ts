import { type OptionTable, uncheckedOption, uncheckedOptions } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import type { Form } from '../../calls/collectives/collectives.js'
import { type IntoOptions, intoOptions } from '../../calls/collectives/options.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { RankFailure } from '../../calls/matching/collective-call.js'
import type { CollectiveHandle } from '../../calls/plan/collective-plan.js'
import {
  type BoundProgram,
  type PersistentRequest,
  plannedRequest,
} from '../../calls/program/planned-call.js'
import type { CollectiveName, Signature } from '../../calls/signature.js'
import { copyWords, wordViewOf } from '../../calls/values/block-store.js'
import { layoutOf } from '../../calls/values/deliver.js'
import { RankResults, UniformStore } from '../../calls/values/uniform-store.js'
import { isRankweaveError, RankweaveError, wrongValue } from '../../errors.js'
import { elementSizeBytes, newArray, type TypedArray } from '../../messages/datatype/elements.js'
import type { NeighborProgram } from '../plan/neighbor-program.js'
import {
  chosenAlltoall,
  isChosenByLength,
  type NeighborHandle,
  type Neighborhood,
} from '../plan/neighborhood.js'
import { type NeighborBlocksOptions, neighborBlocksOptions } from './neighbor-allgather.js'
import {
  boundElements,
  checkedTune,
  checkInto,
  contributionOf,
  NeighborCall,
  type NeighborInitOptions,
  NeighborRequest,
  type Tune,
  tuneText,
} from './neighbor-call.js'
import { blockLayoutOptions, countedEdgeBlocks, VaryingCall } from './varying-blocks.js'

/**
 * Sends the block of slot s to the s-th destination; all blocks are equal. A process that gets blocks of another length
 * than its ranks send fails the collective.
 */
export function neighborAlltoall<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  neighborhood: Neighborhood,
  data: unknown,
  options?: IntoOptions,
): R {
  const name = 'neighborAlltoall'
  return form.attempt(comm, name, intoOptions, options, (seat) => {
    const { type, blocks } = equalBlocksOf(name, neighborhood, seat.rank, data, options?.into)
    const call = new EqualAlltoall(neighborhood, name, seat.state.localRanks, type, blocks.count)
    return form.join(seat, call, blocks, options)
  })
}

export function neighborAlltoallInit(
  comm: NeighborHandle,
  send: unknown,
  recv: unknown,
  options: NeighborInitOptions = {},
): NeighborRequest {
  const { neighborhood } = comm
  const seat = comm.seat()
  const name = 'neighborAlltoallInit'
  const tune = checkedTune(name, neighborhood, options)
  const { elements, into } = boundElements(name, send, recv)
  const { type, blocks } = equalBlocksOf(name, neighborhood, seat.rank, elements, into)
  const call = new EqualAlltoall(neighborhood, name, seat.state.localRanks, type, blocks.count, tune)
  return NeighborRequest.of(seat, call, [elements, into], blocks, tune, {
    operation: 'neighbor-alltoall',
    bytesOf: (all) => {
      const known = call.blockBytes(all)
      return isChosenByLength(neighborhood) ? known : null
    },
  })
}

/** The blocks of one length that a rank sends, side by side. */
interface EqualBlocks {
  readonly elements: TypedArray
  /** The number of elements of a block; null for a rank whose buffer has no block, which does not know. */
  readonly count: number | null
  readonly into: TypedArray | undefined
}

/**
 * Cuts a buffer into blocks of one length, one per destination. The receive buffer is checked only if the rank knows the
 * length.
 *
 * @throws ERR_TYPE unless the data are elements; ERR_COUNT when they cannot be cut; ERR_TYPE_MISMATCH, ERR_TRUNCATE for
 *   `into`
 */
function equalBlocksOf(
  name: CollectiveName,
  neighborhood: Neighborhood,
  rank: number,
  data: unknown,
  into: TypedArray | undefined,
): { readonly type: number; readonly blocks: EqualBlocks } {
  const slots = neighborhood.sendSlotsOf(rank)
  const { type, elements } = contributionOf(name, data)
  const length = slots === 0 ? 0 : elements.length / slots
  if (!Number.isInteger(length) || (slots === 0 && elements.length > 0)) {
    const expected = `${name}: expected a multiple of ${slots} elements, one block per destination`
    throw wrongValue('ERR_COUNT', expected, elements.length)
  }
  const count = slots === 0 ? null : length
  const sources = neighborhood.slotsOf(rank)
  checkInto(name, into, type, sources * (count ?? 0), sources)
  return { type, blocks: { elements, count, into } }
}

/**
 * An alltoall of blocks of one length. Frames are exactly as long as their blocks, and land in their places. A process
 * none of whose ranks has a destination learns the length from the first frame.
 */
class EqualAlltoall extends NeighborCall<EqualBlocks> {
  readonly #name: CollectiveName
  readonly #localRanks: Int32Array
  readonly #type: number

  /** @param count the elements of a block as far as the rank knows */
  constructor(
    neighborhood: Neighborhood,
    name: CollectiveName,
    localRanks: Int32Array,
    type: number,
    count: number | null,
    tune: Tune | null = null,
  ) {
    // Ranks agree on the length as well if the strategy is chosen by it.
    const agreed: Signature =
      count !== null && isChosenByLength(neighborhood) ? { name, type, count } : { name, type }
    super(tune === null ? agreed : { ...agreed, method: tuneText(tune) }, neighborhood)
    this.#name = name
    this.#localRanks = localRanks
    this.#type = type
  }

  /** Returns the bytes of a block; null if no rank here knows. @throws ERR_COLLECTIVE_MISMATCH */
  blockBytes(all: readonly EqualBlocks[]): number | null {
    const count = this.#countOf(all)
    return count === null ? null : count * elementSizeBytes(this.#type)
  }

  override chosen(all: readonly EqualBlocks[]): Neighborhood | Promise<Neighborhood> {
    return chosenAlltoall(this.neighborhood, this.blockBytes(all))
  }

  override bindTo(by: Neighborhood, all: readonly EqualBlocks[], init?: Exchange): BoundProgram {
    const plan = by.operation('neighbor-alltoall')
    const count = this.#countOf(all)
    const isReused = init === undefined && count !== null
    // Every rank describes the call, and one of them runs it.
    const copies = new RankResults(this.#type)
    const store = isReused
      ? plan.takeStore(this.#type, count)
      : new UniformStore(plan.program, this.#type, count)
    return {
      plan,
      store,
      isReusable: isReused && store.isReusable,
      fill: () => fillBlocks(plan, all, store),
      deliver: () => {
        const results: (TypedArray | RankFailure)[] = new Array(all.length)
        for (let i = 0; i < all.length; i++) results[i] = this.#result(by, plan, store, copies, i, all[i])
        return results
      },
    }
  }

  /** Returns the elements of a block; null if no rank here knows. @throws ERR_COLLECTIVE_MISMATCH */
  #countOf(all: readonly EqualBlocks[]): number | null {
    let first = -1
    for (let i = 0; i < all.length; i++) {
      const { count } = all[i]
      if (count === null) continue
      if (first < 0) first = i
      if (count === all[first].count) continue
      const [rank, other] = [this.#localRanks[i], this.#localRanks[first]]
      throw new RankweaveError(
        'ERR_COLLECTIVE_MISMATCH',
        `${this.#name}: rank ${other} passes blocks of ${all[first].count} elements, rank ${rank} of ${count}`,
        { details: { rank, other } },
      )
    }
    return first < 0 ? null : all[first].count
  }

  #result(
    by: Neighborhood,
    { program, slots }: NeighborProgram,
    store: UniformStore,
    copies: RankResults,
    i: number,
    { count, into }: EqualBlocks,
  ): TypedArray | RankFailure {
    const size = by.slotsOf(program.ranks[i]) * store.countElems
    if (count === null) {
      // The buffers of other ranks have been checked before.
      const failure = misfitOf(this.#name, into, this.#type, size)
      if (failure !== undefined) return failure
    }
    const target = into ?? newArray(this.#type, size)
    if (store.isKnown) copies.fill(slots, i, store, target, size, !by.isGrid)
    return target
  }
}

/** Copies the blocks that the ranks send into the values of the store. */
function fillBlocks(
  { program, ownSlot }: NeighborProgram,
  all: readonly EqualBlocks[],
  { words, elements, width }: UniformStore,
): void {
  const { ownStart } = program
  for (let i = 0; i < all.length; i++) {
    const sent = all[i].elements
    const first = ownStart[i]
    if (first === ownStart[i + 1]) continue
    if (ownSlot === null) {
      ;(elements as Float64Array).set(sent as Float64Array, first * all[i].count!)
      continue
    }
    const from = wordViewOf(sent)
    for (let value = first; value < ownStart[i + 1]; value++) {
      copyWords(from, ownSlot[value] * width, words, value * width, width)
    }
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

/** Options of an alltoall of blocks of varying lengths. */
export interface EdgeBlocksOptions<I extends TypedArray = TypedArray> extends NeighborBlocksOptions<I> {
  /** The start of each block in the data. Default: side by side. */
  readonly sendDispls?: ArrayLike<number>
}

const edgeBlocksOptions: OptionTable<EdgeBlocksOptions> = {
  ...neighborBlocksOptions,
  ...uncheckedOptions('sendDispls'),
}

/** Exchanges blocks of varying lengths. */
export function neighborAlltoallv<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  neighborhood: Neighborhood,
  data: unknown,
  sendCounts: ArrayLike<number>,
  options?: EdgeBlocksOptions,
): R {
  const name = 'neighborAlltoallv'
  return form.attempt(comm, name, edgeBlocksOptions, options, (seat) => {
    const given = varyingOf(name, neighborhood, seat.rank, data, sendCounts, options)
    const call = new VaryingCall(neighborhood, 'neighbor-alltoall', name, given.blocks.type)
    return form.join(seat, call, given, options)
  })
}

export function neighborAlltoallvInit(
  comm: NeighborHandle,
  send: unknown,
  sendCounts: ArrayLike<number>,
  recv: unknown,
  options: Omit<EdgeBlocksOptions, 'into' | 'signal'> = {},
): PersistentRequest {
  const { neighborhood } = comm
  const seat = comm.seat()
  const name = 'neighborAlltoallvInit'
  checkOptions(name, { ...blockLayoutOptions, sendDispls: uncheckedOption }, options)
  const { elements, into } = boundElements(name, send, recv)
  const given = varyingOf(name, neighborhood, seat.rank, elements, sendCounts, { ...options, into })
  const call = new VaryingCall(neighborhood, 'neighbor-alltoall', name, given.blocks.type)
  return plannedRequest(seat, call, [elements, into], given)
}

/** @throws ERR_TYPE, ERR_TYPE_MISMATCH for arrays, ERR_COUNT for lists */
function varyingOf(
  name: string,
  neighborhood: Neighborhood,
  rank: number,
  data: unknown,
  sendCounts: ArrayLike<number>,
  options: EdgeBlocksOptions | undefined,
) {
  const slots = neighborhood.sendSlotsOf(rank)
  const blocks = countedEdgeBlocks(name, data, slots, sendCounts, options?.sendDispls)
  checkInto(name, options?.into, blocks.type, 0)
  const layout = layoutOf(name, options, neighborhood.slotsOf(rank), 'source')
  return { blocks, layout }
}
