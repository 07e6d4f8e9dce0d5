import { requireOptions } from '../../../base/require-options.js'
import { programStart } from '../../../comm/calls/program/bound-collective.js'
import type { PersistentRequest } from '../../../comm/calls/program/persistent-request.js'
import type { Signature } from '../../../comm/calls/signature.js'
import type { CommSeat } from '../../../comm/context/handle.js'
import { elementSizeBytes, type TypedArray } from '../../../comm/datatype/elements.js'
import { boundRequest } from '../bound-request.js'
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

/** What a rank binds to a persistent allgather. */
interface Buffers {
  readonly send: TypedArray
  readonly recv: TypedArray
  readonly layoutOptions: BlockLayoutOptions
}

export function neighborAllgatherInit(
  seat: CommSeat,
  neighborhood: Neighborhood,
  send: unknown,
  recv: unknown,
): PersistentRequest {
  const name = 'neighborAllgatherInit'
  const { type, elements, into } = boundElements(name, send, recv)
  const count = elements.length
  checkInto(name, into, type, neighborhood.slotsOf(seat.rank) * count)
  const signature: Signature = { name, type, count }
  const given: Buffers = { send: elements, recv: into, layoutOptions: {} }
  return boundRequest(seat, neighborhood, signature, [elements, into], given, (buffers) => {
    const { program, slots, traffic } = neighborhood.forBlocks(elements.byteLength)
    const store = new UniformStore(program, type, elementSizeBytes(type), count)
    const sends = buffers.map((bound) => wordViewOf(bound.send))
    const receives = buffers.map((bound) => wordViewOf(bound.recv))
    return programStart(signature, program, {
      store,
      fill() {
        const { words, width } = store
        for (let v = 0; v < sends.length; v++) copyWords(sends[v], 0, words, v * width, width)
      },
      deliver() {
        countRun(traffic, program.counts)
        for (let i = 0; i < receives.length; i++) fillRankSlots(slots, i, store, receives[i])
      },
    })
  })
}

export function neighborAllgathervInit(
  seat: CommSeat,
  neighborhood: Neighborhood,
  send: unknown,
  recv: unknown,
  layoutOptions: BlockLayoutOptions,
): PersistentRequest {
  const name = 'neighborAllgathervInit'
  requireOptions(name, layoutOptions)
  const { type, elements, into } = boundElements(name, send, recv)
  checkInto(name, into, type, 0)
  const signature: Signature = { name: 'neighborAllgatherInit', type }
  const given: Buffers = { send: elements, recv: into, layoutOptions }
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
