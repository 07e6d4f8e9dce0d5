import { requireOptions } from '../../../base/require-options.js'
import { type CollectiveCall, RankFailure } from '../../../comm/calls/collective-call.js'
import type { CollectiveName } from '../../../comm/calls/collective-name.js'
import type { Form, Handle } from '../../../comm/calls/collectives/form.js'
import type { BlocksOptions, IntoOptions } from '../../../comm/calls/collectives/plan/options.js'
import type { Exchange } from '../../../comm/calls/exchange.js'
import { runProgram } from '../../../comm/calls/program/run-program.js'
import { elementSizeBytes, type TypedArray } from '../../../comm/datatype/elements.js'
import { isRankweaveError, RankweaveError } from '../../../errors.js'
import { deliverVarying, slotCounts } from '../deliver-varying.js'
import { BlockStore } from '../memory/block-store.js'
import { checkInto, elementWords } from '../memory/buffers.js'
import { fillSlots } from '../memory/fill-slots.js'
import { wordViewOf } from '../memory/memory-words.js'
import { receiveBuffers } from '../memory/receive-buffers.js'
import { countRun } from '../neighbor-traffic.js'
import type { Neighborhood, OperationProgram } from '../neighborhood.js'
import { countedEdgeBlocks, type EdgeBlocks, equalEdgeBlocks } from './edge-blocks.js'

/** Options of an alltoall of blocks of varying lengths. */
export interface EdgeBlocksOptions<I extends TypedArray = TypedArray> extends BlocksOptions<I> {
  /** Start of each block in the data. Default: side by side. */
  readonly sendDispls?: ArrayLike<number>
}

/** What one rank passes. */
interface Contribution {
  readonly blocks: EdgeBlocks
  readonly options: BlocksOptions
}

/**
 * Equal blocks: that of slot s to the s-th destination. How long they are is known to ranks with destinations only, so lengths
 * travel with the blocks, and a rank that gets blocks of another length than it sends fails the collective.
 */
export function neighborAlltoall<R>(
  form: Form<R>,
  comm: Handle,
  neighborhood: Neighborhood,
  data: unknown,
  options: IntoOptions = {},
): R {
  const name = 'neighborAlltoall'
  return form.attempt(comm, (seat) => {
    requireOptions(name, options)
    const sendSlots = neighborhood.sendSlotsOf(seat.rank)
    const blocks = equalEdgeBlocks(name, data, sendSlots)
    const { type } = blocks
    const needed = sendSlots === 0 ? 0 : neighborhood.slotsOf(seat.rank) * blocks.counts[0]
    checkInto(name, options.into, type, needed)
    const call = alltoallCall<Contribution>(
      neighborhood,
      name,
      type,
      blocksOf,
      (contributions, operation, store) => deliverEqual(neighborhood, operation, store, type, contributions),
    )
    return form.join(seat, call, { blocks, options: { into: options.into } as BlocksOptions }, options)
  })
}

/** Blocks of varying lengths; these travel in the frames, so no receiver needs to know them before. */
export function neighborAlltoallv<R>(
  form: Form<R>,
  comm: Handle,
  neighborhood: Neighborhood,
  data: unknown,
  sendCounts: ArrayLike<number>,
  options: EdgeBlocksOptions = {},
): R {
  const name = 'neighborAlltoallv'
  return form.attempt(comm, (seat) => {
    requireOptions(name, options)
    const slots = neighborhood.sendSlotsOf(seat.rank)
    const blocks = countedEdgeBlocks(name, data, slots, sendCounts, options.sendDispls)
    const { type } = blocks
    checkInto(name, options.into, type, 0)
    const call = alltoallCall<Contribution>(
      neighborhood,
      name,
      type,
      blocksOf,
      (contributions, { program }, store) => {
        const wanted = contributions.map((each) => each.options)
        return deliverVarying(name, neighborhood, program, store, type, wanted)
      },
    )
    return form.join(seat, call, { blocks, options }, options)
  })
}

const blocksOf = ({ blocks }: Contribution): EdgeBlocks => blocks

/**
 * A call that exchanges blocks of one element type.
 *
 * @param blocksOf what a rank sends, read when the call runs
 * @param deliver what every hosted rank gets
 */
export function alltoallCall<C>(
  neighborhood: Neighborhood,
  name: CollectiveName,
  type: number,
  blocksOf: (contribution: C) => EdgeBlocks,
  deliver: (
    contributions: readonly C[],
    operation: OperationProgram,
    store: BlockStore,
  ) => readonly unknown[],
): CollectiveCall<C, unknown> {
  return {
    signature: { name, type },
    unplaced: neighborhood.isLocated,
    run: (contributions, exchange) => {
      // Sent directly where the library chooses: choices are made for allgathers, whose blocks are sent once for several.
      const operation = neighborhood.operation('neighbor-alltoall')
      const blocks = contributions.map(blocksOf)
      exchangeEdges(neighborhood, operation, blocks, type, exchange, (store) =>
        exchange.finish(deliver(contributions, operation, store)),
      )
      return undefined
    },
  }
}

function exchangeEdges(
  { traffic }: Neighborhood,
  { program, ownSlot }: OperationProgram,
  blocks: readonly EdgeBlocks[],
  type: number,
  exchange: Exchange,
  done: (store: BlockStore) => void,
): void {
  const perElement = elementWords(type)
  const ownWords = blocks.reduce((sum, { elements }) => sum + elements.length * perElement, 0)
  const store = BlockStore.open(program, elementSizeBytes(type), ownWords)
  for (const [i, { elements, starts, counts }] of blocks.entries()) {
    const words = wordViewOf(elements)
    for (let value = program.ownStart[i]; value < program.ownStart[i + 1]; value++) {
      const slot = ownSlot[value]
      store.extend(value, counts[slot] * perElement)
      store.put(value, words, starts[slot] * perElement)
    }
  }
  runProgram(program, exchange, store, () => {
    countRun(traffic, program.counts)
    done(store)
  })
}

/** Every slot as long as the first; those without a neighbor are not written. */
function deliverEqual(
  neighborhood: Neighborhood,
  { program }: OperationProgram,
  store: BlockStore,
  type: number,
  contributions: readonly Contribution[],
): readonly (TypedArray | RankFailure)[] {
  const name = 'neighborAlltoall'
  const arrived = slotCounts(neighborhood, program, store, type)
  const filled = arrived.map((counts) => new Uint8Array(counts.length))
  for (let f = 0; f < program.fillSlot.length; f++) filled[program.fillRank[f]][program.fillSlot[f]] = 1
  const countOf = contributions.map(({ blocks }, i) => {
    const first = filled[i].indexOf(1)
    const count = blocks.counts.length > 0 ? blocks.counts[0] : first < 0 ? 0 : arrived[i][first]
    const other = arrived[i].findIndex((elems, slot) => filled[i][slot] === 1 && elems !== count)
    if (other < 0) return count
    throw new RankweaveError(
      'ERR_COLLECTIVE_MISMATCH',
      `${name}: rank ${program.ranks[i]} expected blocks of ${count} elements, source ${other} sent ${arrived[i][other]}`,
      { details: { slot: other } },
    )
  })
  const sizes = countOf.map((count, i) => count * arrived[i].length)
  const failures = contributions.map(({ options: { into } }, i) => {
    // Checked before by ranks with destinations.
    try {
      checkInto(name, into, type, sizes[i])
      return undefined
    } catch (error) {
      if (!isRankweaveError(error)) throw error
      return new RankFailure(error)
    }
  })
  const buffers = receiveBuffers(type, sizes, (i) =>
    failures[i] === undefined ? contributions[i].options.into : undefined,
  )
  const perElement = elementWords(type)
  const fillTo = program.fillSlot.map((slot, f) => slot * countOf[program.fillRank[f]] * perElement)
  fillSlots(program, store, buffers, fillTo)
  return buffers.results().map((result, i) => failures[i] ?? result)
}
