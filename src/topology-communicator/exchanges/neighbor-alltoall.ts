import { type OptionTable, uncheckedOption, uncheckedOptions } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { whenThere } from '../../base/turn.js'
import type { Form, Handle } from '../../calls/collectives/form.js'
import { type IntoOptions, intoOptions } from '../../calls/collectives/options.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import type { CollectiveCall, RankFailure } from '../../calls/matching/collective-call.js'
import { type BoundProgram, programStart } from '../../calls/program/bound-collective.js'
import {
  boundCollective,
  boundRequest,
  type PersistentRequest,
} from '../../calls/program/persistent-request.js'
import { runProgram } from '../../calls/program/run-program.js'
import type { CollectiveName, Signature } from '../../calls/signature.js'
import { type Layout, layoutOf } from '../../calls/values/deliver.js'
import { elementSizeBytes, type TypedArray } from '../../messages/datatype/elements.js'
import { chosenAlltoall, isChosenByLength } from '../execute/chosen.js'
import { deliverVarying, varyingDelivery } from '../execute/deliver-varying.js'
import { NeighborRequest, requestStart, type TunerPlace } from '../execute/neighbor-request.js'
import { countRun, exchangeLengths } from '../execute/neighbor-traffic.js'
import type { NeighborHandle, Neighborhood } from '../execute/neighborhood.js'
import type { OperationProgram } from '../execute/placement.js'
import { checkedTune, type NeighborInitOptions, tuneText } from '../execute/tune-options.js'
import { BlockStore } from '../memory/block-store.js'
import { blockLayoutOptions, boundElements, checkInto, elementWords, wordViewOf } from '../memory/buffers.js'
import { LearningStore, UniformStore } from '../memory/uniform-store.js'
import {
  agreedCount,
  bytesOfBlocks,
  countedEdgeBlocks,
  Delivery,
  type EdgeBlocks,
  type EqualBlocks,
  equalCall,
  equalSendOf,
  equalSignature,
  fillBlocks,
  isFailure,
} from './equal-alltoall.js'
import { type NeighborBlocksOptions, neighborBlocksOptions } from './neighbor-allgather.js'

/** Options of an alltoall of blocks of varying lengths. */
export interface EdgeBlocksOptions<I extends TypedArray = TypedArray> extends NeighborBlocksOptions<I> {
  /** The start of each block in the data. Default: side by side. */
  readonly sendDispls?: ArrayLike<number>
}

const edgeBlocksOptions: OptionTable<EdgeBlocksOptions> = {
  ...neighborBlocksOptions,
  ...uncheckedOptions('sendDispls'),
}

interface Contribution {
  readonly blocks: EdgeBlocks
  readonly layout: Layout
}

/**
 * Sends the block of slot s to the s-th destination; all blocks are equal. A process that gets blocks of another length
 * than its ranks send fails the collective.
 */
export function neighborAlltoall<R>(
  form: Form<R>,
  comm: Handle,
  neighborhood: Neighborhood,
  data: unknown,
  options?: IntoOptions,
): R {
  const name = 'neighborAlltoall'
  return form.attempt(comm, name, intoOptions, options, (seat) => {
    const { type, blocks } = equalSendOf(name, neighborhood, seat.rank, data, options?.into)
    return form.join(
      seat,
      equalCall(seat.state.localRanks, neighborhood, type, blocks.count),
      blocks,
      options,
    )
  })
}

/** Exchanges blocks of varying lengths. Frames carry the lengths, so no receiver needs to know them before. */
export function neighborAlltoallv<R>(
  form: Form<R>,
  comm: Handle,
  neighborhood: Neighborhood,
  data: unknown,
  sendCounts: ArrayLike<number>,
  options?: EdgeBlocksOptions,
): R {
  const name = 'neighborAlltoallv'
  return form.attempt(comm, name, edgeBlocksOptions, options, (seat) => {
    const slots = neighborhood.sendSlotsOf(seat.rank)
    const blocks = countedEdgeBlocks(name, data, slots, sendCounts, options?.sendDispls)
    const { type } = blocks
    checkInto(name, options?.into, type, 0)
    const layout = layoutOf(name, options, neighborhood.slotsOf(seat.rank), 'source')
    const call = neighborAlltoallCall<Contribution>(
      neighborhood,
      name,
      type,
      blocksOf,
      (contributions, { program }, store) => {
        const wanted = contributions.map((each) => each.layout)
        return deliverVarying(name, neighborhood, program, store, type, wanted)
      },
    )
    return form.join(seat, call, { blocks, layout }, options)
  })
}

const blocksOf = ({ blocks }: Contribution): EdgeBlocks => blocks

/**
 * Makes a call that exchanges blocks of one element type.
 *
 * @param blocksOf what a rank sends, read when the call runs
 * @param deliver what every hosted rank gets
 */
export function neighborAlltoallCall<C>(
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
      const start = (by: Neighborhood): undefined => {
        const operation = by.operation('neighbor-alltoall')
        const blocks = contributions.map(blocksOf)
        exchangeEdges(by, operation, blocks, type, exchange, (store) =>
          exchange.finish(deliver(contributions, operation, store)),
        )
        return undefined
      }
      return whenThere(chosenAlltoall(neighborhood, null), start)
    },
  }
}

function exchangeEdges(
  { traffic }: Neighborhood,
  operation: OperationProgram,
  blocks: readonly EdgeBlocks[],
  type: number,
  exchange: Exchange,
  done: (store: BlockStore) => void,
): void {
  const { program } = operation
  const perElement = elementWords(type)
  const ownWords = blocks.reduce((sum, { elements }) => sum + elements.length * perElement, 0)
  const store = BlockStore.open(program, elementSizeBytes(type), ownWords)
  for (const [i, { elements, starts, counts }] of blocks.entries()) {
    const words = wordViewOf(elements)
    for (let value = program.ownStart[i]; value < program.ownStart[i + 1]; value++) {
      const slot = operation.slotOf(i, value)
      store.extend(value, counts[slot] * perElement)
      store.put(value, words, starts[slot] * perElement)
    }
  }
  runProgram(program, exchange, store, () => {
    countRun(traffic, program.counts)
    done(store)
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
  const { type, blocks } = equalSendOf(name, neighborhood, seat.rank, elements, into)
  const agreed = equalSignature(name, neighborhood, type, blocks.count)
  const signature: Signature = tune === null ? agreed : { ...agreed, method: tuneText(tune) }
  const place: TunerPlace = {}
  const call = { signature, unplaced: neighborhood.isLocated }
  const setup = boundCollective(seat, call, { blocks, place }, (all) => {
    const passed = all.map((each) => each.blocks)
    const count = agreedCount(name, seat.state.localRanks, passed)
    const known = bytesOfBlocks(type, count)
    const bound = (by: Neighborhood) => boundAlltoall(by, name, type, count, passed)
    const untuned = () => chosenAlltoall(neighborhood, known)
    const operation = 'neighbor-alltoall'
    const bytes = isChosenByLength(neighborhood) ? known : null
    return requestStart(signature, tune, { neighborhood, operation, bytes, all, untuned, bound })
  })
  return new NeighborRequest(seat, setup, [elements, into], place)
}

function boundAlltoall(
  neighborhood: Neighborhood,
  name: CollectiveName,
  type: number,
  count: number | null,
  blocks: readonly EqualBlocks[],
): BoundProgram {
  const operation = neighborhood.operation('neighbor-alltoall')
  const { program } = operation
  const delivery = new Delivery(neighborhood, operation, name, type)
  const deliver = (store: UniformStore | undefined): RankFailure | undefined =>
    delivery.results(store, blocks).find(isFailure)
  if (count === null) {
    const store = new LearningStore(program, type)
    return { program, store, fill() {}, deliver: () => deliver(store.learned) }
  }
  const store = new UniformStore(program, type, elementSizeBytes(type), count)
  return { program, store, fill: () => fillBlocks(operation, blocks, store), deliver: () => deliver(store) }
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
  const slots = neighborhood.sendSlotsOf(seat.rank)
  const blocks = countedEdgeBlocks(name, elements, slots, sendCounts, options.sendDispls)
  const { type } = blocks
  checkInto(name, into, type, 0)
  const layout = layoutOf(name, { ...options, into }, neighborhood.slotsOf(seat.rank), 'source')
  const given = { blocks, layout }
  const signature: Signature = { name, type }
  const call = { signature, unplaced: neighborhood.isLocated }
  return boundRequest(seat, call, [elements, into], given, async (all, exchange) => {
    const operation = (await chosenAlltoall(neighborhood, null)).operation('neighbor-alltoall')
    const { program } = operation
    const { traffic } = neighborhood
    const perElement = elementWords(type)
    const { ownStart } = program
    const lengths = await exchangeLengths(program, traffic, exchange, 1, (words) => {
      for (const [i, bound] of all.entries()) {
        for (let value = ownStart[i]; value < ownStart[i + 1]; value++) {
          words[value] = bound.blocks.counts[operation.slotOf(i, value)] * perElement
        }
      }
    })
    const store = BlockStore.of(program, elementSizeBytes(type), lengths)
    const wanted = all.map((bound) => bound.layout)
    const delivery = varyingDelivery(name, neighborhood, program, store, type, wanted)
    const sends = all.map((bound) => wordViewOf(bound.blocks.elements))
    return programStart(signature, {
      program,
      store,
      fill() {
        for (let i = 0; i < all.length; i++) {
          const { starts } = all[i].blocks
          for (let value = ownStart[i]; value < ownStart[i + 1]; value++) {
            store.put(value, sends[i], starts[operation.slotOf(i, value)] * perElement)
          }
        }
      },
      deliver() {
        countRun(traffic, program.counts)
        delivery.fill()
        return delivery.failures.find((failure) => failure !== undefined)
      },
    })
  })
}
