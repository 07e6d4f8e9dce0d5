import { requireKnownOptions } from '../../../base/known-options.js'
import { programStart } from '../../../comm/calls/program/bound-collective.js'
import type { PersistentRequest } from '../../../comm/calls/program/persistent-request.js'
import type { Signature } from '../../../comm/calls/signature.js'
import type { CommSeat } from '../../../comm/context/handle.js'
import { elementSizeBytes, type TypedArray } from '../../../comm/datatype/elements.js'
import { boundCollective, boundRequest } from '../bound-request.js'
import { chosenNeighborhood } from '../chosen.js'
import { slotCounts, varyingFill } from '../deliver-varying.js'
import { exchangeLengths } from '../exchange-lengths.js'
import { type BlockLayoutOptions, blockLayout } from '../memory/block-layout.js'
import { BlockStore } from '../memory/block-store.js'
import { boundElements, checkInto } from '../memory/buffers.js'
import { fillSlots } from '../memory/fill-slots.js'
import { copyWords, wordViewOf } from '../memory/memory-words.js'
import { fillRankSlots } from '../memory/slot-list.js'
import { UniformStore } from '../memory/uniform-store.js'
import { countRun } from '../neighbor-traffic.js'
import type { Neighborhood } from '../neighborhood.js'
import { NeighborRequest, type TunerPlace } from '../tune/neighbor-request.js'
import { requestStart } from '../tune/request-start.js'
import { checkedTune, type NeighborInitOptions, textOf } from '../tune/tune-options.js'
import type { BoundProgram } from '../tune/tuned-start.js'

/** What a rank binds to a persistent allgather. */
interface UniformBuffers {
  readonly send: TypedArray
  readonly recv: TypedArray
}

interface VaryingBuffers extends UniformBuffers {
  readonly layoutOptions: BlockLayoutOptions
}

export function neighborAllgatherInit(
  seat: CommSeat,
  neighborhood: Neighborhood,
  send: unknown,
  recv: unknown,
  options: NeighborInitOptions = {},
): NeighborRequest {
  const name = 'neighborAllgatherInit'
  const tune = checkedTune(name, neighborhood, options)
  const { type, elements, into } = boundElements(name, send, recv)
  const count = elements.length
  checkInto(name, into, type, neighborhood.slotsOf(seat.rank) * count)
  const signature: Signature = { name, type, count, ...(tune === null ? {} : { method: textOf(tune) }) }
  const given: UniformBuffers = { send: elements, recv: into }
  const place: TunerPlace = {}
  const setup = boundCollective(seat, neighborhood, signature, { given, place }, (all) => {
    const buffers = all.map((each) => each.given)
    const operation = 'neighbor-allgather'
    const bytes = elements.byteLength
    const bound = (by: Neighborhood) => boundAllgather(by, type, count, buffers)
    const untuned = () => chosenNeighborhood(neighborhood, bytes, operation)
    return requestStart(signature, tune, { neighborhood, operation, bytes, all, untuned, bound })
  })
  return new NeighborRequest(seat, setup, [elements, into], place)
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
      for (let v = 0; v < sends.length; v++) copyWords(sends[v], 0, words, v * width, width)
    },
    deliver() {
      countRun(traffic, program.counts)
      for (let i = 0; i < receives.length; i++) fillRankSlots(slots, i, store, receives[i])
    },
  }
}

export function neighborAllgathervInit(
  seat: CommSeat,
  neighborhood: Neighborhood,
  send: unknown,
  recv: unknown,
  layoutOptions: BlockLayoutOptions,
): PersistentRequest {
  const name = 'neighborAllgathervInit'
  requireKnownOptions(name, layoutOptions, { counts: true, displs: true })
  const { type, elements, into } = boundElements(name, send, recv)
  checkInto(name, into, type, 0)
  const signature: Signature = { name: 'neighborAllgatherInit', type }
  const given: VaryingBuffers = { send: elements, recv: into, layoutOptions }
  return boundRequest(seat, neighborhood, signature, [elements, into], given, async (buffers, exchange) => {
    const chosen = neighborhood.forBlocks(null)
    const { program, traffic } = chosen
    const sends = buffers.map((bound) => wordViewOf(bound.send))
    const lengths = await exchangeLengths(program, traffic, exchange, 1, (words) => {
      for (const [v, { length }] of sends.entries()) words[v] = length
    })
    const store = BlockStore.of(program, elementSizeBytes(type), lengths)
    const counts = slotCounts(chosen, program, store, type)
    const displs = buffers.map((bound, i) => {
      const layout = blockLayout(name, counts[i], bound.layoutOptions)
      checkInto(name, bound.recv, type, layout.size)
      return layout.displs
    })
    const receives = {
      words: buffers.map((bound) => wordViewOf(bound.recv)),
      base: new Int32Array(buffers.length),
    }
    const fillTo = varyingFill(program, displs, type)
    return programStart(signature, program, {
      store,
      fill() {
        for (let v = 0; v < sends.length; v++) store.put(v, sends[v])
      },
      deliver() {
        countRun(traffic, program.counts)
        fillSlots(program, store, receives, fillTo)
      },
    })
  })
}
