import { flagOption, type OptionTable } from '../../base/option.js'
import { checkOptions, withDefaults } from '../../base/option-table.js'
import { type BoundProgram, programStart } from '../../calls/program/bound-collective.js'
import type { PersistentRequest } from '../../calls/program/persistent-request.js'
import { boundCollective, boundRequest } from '../../calls/program/persistent-request.js'
import { canPublish } from '../../calls/program/publication.js'
import type { Signature } from '../../calls/signature.js'
import { type Layout, layoutOf } from '../../calls/values/deliver.js'
import type { CommState } from '../../comm/comm-state.js'
import { RankweaveError } from '../../errors.js'
import { elementSizeBytes, requireIntact, type TypedArray } from '../../messages/datatype/elements.js'
import { chosenNeighborhood } from '../execute/chosen.js'
import { varyingDelivery } from '../execute/deliver-varying.js'
import { NeighborRequest, requestStart, type TunerPlace } from '../execute/neighbor-request.js'
import { countRun, exchangeLengths } from '../execute/neighbor-traffic.js'
import type { NeighborHandle, Neighborhood } from '../execute/neighborhood.js'
import { checkedTune, initOptions, type NeighborInitOptions, tuneText } from '../execute/tune-options.js'
import { BlockStore } from '../memory/block-store.js'
import {
  type BlockLayoutOptions,
  blockLayoutOptions,
  boundElements,
  checkInto,
  copyWords,
  wordsPerElement,
  wordViewOf,
} from '../memory/buffers.js'
import { fillRankSlots } from '../memory/slot-list.js'
import { UniformStore } from '../memory/uniform-store.js'
import { publishedAllgather } from './published-allgather.js'

/** Options of a persistent neighbor allgather. */
export interface AllgatherInitOptions extends NeighborInitOptions {
  /**
   * Replaces direct sends if all processes of the communicator share memory: every process writes its blocks there once
   * per start, and neighbors read them. Otherwise, and if a process has no such memory left, blocks are sent. Default:
   * if processes share cores and the strategy is direct or the library's to choose, for blocks of up to 16 KiB.
   */
  readonly sharedMemory?: boolean
}

/** The longest block that is in shared memory by default; two blocks of each rank are retained. */
const mostPublishedBytes = 16_384

/** The text that ranks compare: those that pass other options are a mismatch. */
const publishedText = 'sharedMemory'

interface UniformBuffers {
  readonly send: TypedArray
  readonly recv: TypedArray
}

interface VaryingBuffers {
  readonly send: TypedArray
  readonly layout: Layout
}

export function neighborAllgatherInit(
  comm: NeighborHandle,
  send: unknown,
  recv: unknown,
  options: AllgatherInitOptions = {},
): NeighborRequest {
  const { neighborhood } = comm
  const seat = comm.seat()
  const name = 'neighborAllgatherInit'
  const { tune, sharedMemory } = checkedInit(name, neighborhood, options)
  const { type, elements, into } = boundElements(name, send, recv)
  const count = elements.length
  checkInto(name, into, type, neighborhood.slotsOf(seat.rank) * count)
  const method = sharedMemory === true ? publishedText : tune === null ? null : tuneText(tune)
  const signature: Signature = { name, type, count, ...(method === null ? {} : { method }) }
  const given: UniformBuffers = { send: elements, recv: into }
  const place: TunerPlace = {}
  const call = { signature, unplaced: neighborhood.isLocated }
  const setup = boundCollective(seat, call, { given, place }, async (all, exchange) => {
    const buffers = all.map((each) => each.given)
    const isPublished =
      sharedMemory ?? (tune === null && isBetterPublished(seat.state, neighborhood, elements.byteLength))
    if (isPublished && !neighborhood.isLocated && canPublish(seat.state)) {
      const direct = neighborhood.by({ kind: 'direct' })
      const blocks = { blockBytes: elements.byteLength, ...wordsOfBuffers(buffers, type, count) }
      const start = await publishedAllgather(seat.state, direct, signature, blocks, exchange)
      if (start !== null) return start
    }
    const operation = 'neighbor-allgather'
    const bytes = elements.byteLength
    const bound = (by: Neighborhood) => boundAllgather(by, type, count, buffers)
    const untuned = () => chosenNeighborhood(neighborhood, bytes, operation)
    return requestStart(signature, tune, { neighborhood, operation, bytes, all, untuned, bound })
  })
  return new NeighborRequest(seat, setup, [elements, into], place)
}

const allgatherInitOptions = {
  ...initOptions,
  sharedMemory: flagOption(),
} satisfies OptionTable<AllgatherInitOptions>

/**
 * Whether blocks are read in place although no option demands it. A process must get a core to handle a frame, but not
 * for neighbors to read its memory.
 */
function isBetterPublished(
  { runtime }: CommState,
  { isAuto, strategy }: Neighborhood,
  blockBytes: number,
): boolean {
  const mayBePublished = isAuto || strategy.kind === 'direct'
  return mayBePublished && runtime.fabric.isOversubscribed === true && blockBytes <= mostPublishedBytes
}

/** Returns the options with defaults. @throws ERR_ARGUMENT; ERR_STRATEGY if blocks are not sent directly */
function checkedInit(name: string, neighborhood: Neighborhood, options: AllgatherInitOptions) {
  checkOptions(name, allgatherInitOptions, options)
  const { sharedMemory, ...others } = withDefaults(allgatherInitOptions, options)
  const tune = checkedTune(name, neighborhood, others)
  if (sharedMemory && tune !== null)
    throw new RankweaveError('ERR_ARGUMENT', `${name}: expected either tune or sharedMemory`)
  const { isAuto, strategy } = neighborhood
  if (sharedMemory && !isAuto && strategy.kind !== 'direct') {
    const message = `${name}: sharedMemory is another way to send directly: expected strategy direct or auto, got ${strategy.kind}`
    throw new RankweaveError('ERR_STRATEGY', message)
  }
  return { tune, sharedMemory }
}

function wordsOfBuffers(buffers: readonly UniformBuffers[], type: number, count: number) {
  return {
    width: count * wordsPerElement(elementSizeBytes(type)),
    sends: buffers.map(({ send }) => wordViewOf(send)),
    receives: buffers.map(({ recv }) => wordViewOf(recv)),
  }
}

function boundAllgather(
  { program, slots, traffic }: Neighborhood,
  type: number,
  count: number,
  buffers: readonly UniformBuffers[],
): BoundProgram {
  const store = new UniformStore(program, type, elementSizeBytes(type), count)
  const sends = buffers.map(({ send }) => wordViewOf(send))
  const receives = buffers.map(({ recv }) => wordViewOf(recv))
  return {
    program,
    store,
    fill() {
      const { words, width } = store
      for (let v = 0; v < sends.length; v++) {
        requireIntact(sends[v])
        copyWords(sends[v], 0, words, v * width, width)
      }
    },
    deliver() {
      countRun(traffic, program.counts)
      for (let i = 0; i < receives.length; i++) fillRankSlots(slots, i, store, receives[i])
    },
  }
}

export function neighborAllgathervInit(
  comm: NeighborHandle,
  send: unknown,
  recv: unknown,
  options: BlockLayoutOptions = {},
): PersistentRequest {
  const { neighborhood } = comm
  const seat = comm.seat()
  const name = 'neighborAllgathervInit'
  checkOptions(name, blockLayoutOptions, options)
  const { type, elements, into } = boundElements(name, send, recv)
  checkInto(name, into, type, 0)
  const signature: Signature = { name: 'neighborAllgatherInit', type }
  const layout = layoutOf(name, { ...options, into }, neighborhood.slotsOf(seat.rank), 'source')
  const given: VaryingBuffers = { send: elements, layout }
  const call = { signature, unplaced: neighborhood.isLocated }
  return boundRequest(seat, call, [elements, into], given, async (buffers, exchange) => {
    const chosen = neighborhood.forBlocks(null)
    const { program, traffic } = chosen
    const sends = buffers.map((bound) => wordViewOf(bound.send))
    const lengths = await exchangeLengths(program, traffic, exchange, 1, (words) => {
      for (const [v, { length }] of sends.entries()) words[v] = length
    })
    const store = BlockStore.of(program, elementSizeBytes(type), lengths)
    const wanted = buffers.map((bound) => bound.layout)
    const delivery = varyingDelivery(name, chosen, program, store, type, wanted)
    return programStart(signature, {
      program,
      store,
      fill() {
        for (let v = 0; v < sends.length; v++) store.put(v, sends[v])
      },
      deliver() {
        countRun(traffic, program.counts)
        delivery.fill()
        return delivery.failures.find((failure) => failure !== undefined)
      },
    })
  })
}
