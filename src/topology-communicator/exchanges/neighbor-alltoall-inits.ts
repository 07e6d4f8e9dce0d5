import { uncheckedOption } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import type { RankFailure } from '../../calls/matching/collective-call.js'
import { type BoundProgram, programStart } from '../../calls/program/bound-collective.js'
import type { PersistentRequest } from '../../calls/program/persistent-request.js'
import { boundCollective, boundRequest } from '../../calls/program/persistent-request.js'
import type { CollectiveName, Signature } from '../../calls/signature.js'
import { layoutOf } from '../../calls/values/deliver.js'
import { elementSizeBytes } from '../../messages/datatype/elements.js'
import { chosenAlltoall, isChosenByLength } from '../execute/chosen.js'
import { varyingDelivery } from '../execute/deliver-varying.js'
import { exchangeLengths } from '../execute/exchange-lengths.js'
import { NeighborRequest, type TunerPlace } from '../execute/neighbor-request.js'
import { countRun } from '../execute/neighbor-traffic.js'
import type { NeighborHandle, Neighborhood } from '../execute/neighborhood.js'
import { requestStart } from '../execute/request-start.js'
import { checkedTune, type NeighborInitOptions, tuneText } from '../execute/tune-options.js'
import { blockLayoutOptions } from '../memory/block-layout.js'
import { BlockStore } from '../memory/block-store.js'
import { boundElements, checkInto, elementWords } from '../memory/buffers.js'
import { LearningStore } from '../memory/learning-store.js'
import { wordViewOf } from '../memory/memory-words.js'
import { UniformStore } from '../memory/uniform-store.js'
import { countedEdgeBlocks } from './edge-blocks.js'
import {
  agreedCount,
  bytesOfBlocks,
  Delivery,
  type EqualBlocks,
  equalSendOf,
  equalSignature,
  fillBlocks,
  isFailure,
} from './equal-alltoall.js'
import type { EdgeBlocksOptions } from './neighbor-alltoall.js'

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
