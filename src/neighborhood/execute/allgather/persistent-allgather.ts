import { requireOptions } from '../../../base/require-options.js'
import type { CollectiveCall } from '../../../comm/calls/collective-call.js'
import type { Exchange } from '../../../comm/calls/exchange.js'
import { BoundCollective, programStart } from '../../../comm/calls/program/bound-collective.js'
import { PersistentRequest } from '../../../comm/calls/program/persistent-request.js'
import { runProgram } from '../../../comm/calls/program/run-program.js'
import type { Signature } from '../../../comm/calls/signature.js'
import type { CommSeat } from '../../../comm/context/handle.js'
import { elementSizeBytes, type TypedArray, typeCode } from '../../../comm/datatype/elements.js'
import { RankweaveError } from '../../../errors.js'
import { slotCounts, varyingFill } from '../deliver-varying.js'
import { type BlockLayoutOptions, blockLayout } from '../memory/block-layout.js'
import { BlockStore } from '../memory/block-store.js'
import { checkInto, contributionOf } from '../memory/buffers.js'
import { fillSlots } from '../memory/fill-slots.js'
import { copyWords, wordViewOf } from '../memory/memory-words.js'
import { fillRankSlots, UniformStore } from '../memory/uniform-store.js'
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
  const { type, elements } = contributionOf(name, send)
  checkBound(name, send, recv)
  const count = elements.length
  checkInto(name, recv, type, neighborhood.slotsOf(seat.rank) * count)
  const signature: Signature = { name, type, count }
  const call: CollectiveCall<Buffers, BoundCollective> = {
    signature,
    unplaced: neighborhood.isLocated,
    run: (buffers, exchange) => {
      const { program, slots, traffic } = neighborhood.forBlocks(elements.byteLength)
      const store = new UniformStore(program, type, elementSizeBytes(type), count)
      const sends = buffers.map((bound) => wordViewOf(bound.send))
      const receives = buffers.map((bound) => wordViewOf(bound.recv))
      const bound = new BoundCollective(
        seat.state,
        exchange,
        programStart(signature, program, {
          store,
          fill() {
            const { words, width } = store
            for (let v = 0; v < sends.length; v++) copyWords(sends[v], 0, words, v * width, width)
          },
          deliver() {
            countRun(traffic, program.counts)
            for (let i = 0; i < receives.length; i++) fillRankSlots(slots, i, store, receives[i])
          },
        }),
      )
      return buffers.map(() => bound)
    },
  }
  return requestOf(seat, call, { send: elements, recv: recv as TypedArray, layoutOptions: {} })
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
  const { type, elements } = contributionOf(name, send)
  checkBound(name, send, recv)
  checkInto(name, recv, type, 0)
  const signature: Signature = { name: 'neighborAllgatherInit', type }
  const call: CollectiveCall<Buffers, BoundCollective> = {
    signature,
    unplaced: neighborhood.isLocated,
    run: async (buffers, exchange) => {
      const chosen = neighborhood.forBlocks(null)
      const { program, traffic } = chosen
      const lengths = await exchangeLengths(chosen, buffers, exchange)
      const store = BlockStore.of(program, elementSizeBytes(type), lengths)
      const counts = slotCounts(chosen, program, store, type)
      const displs = buffers.map(({ recv: into, layoutOptions: wanted }, i) => {
        const layout = blockLayout(name, counts[i], wanted)
        checkInto(name, into, type, layout.size)
        return layout.displs
      })
      const sends = buffers.map((bound) => wordViewOf(bound.send))
      const receives = {
        words: buffers.map((bound) => wordViewOf(bound.recv)),
        base: new Int32Array(buffers.length),
      }
      const fillTo = varyingFill(program, displs, type)
      const bound = new BoundCollective(
        seat.state,
        exchange,
        programStart(signature, program, {
          store,
          fill() {
            for (let v = 0; v < sends.length; v++) store.put(v, sends[v])
          },
          deliver() {
            countRun(traffic, program.counts)
            fillSlots(program, store, receives, fillTo)
          },
        }),
      )
      return buffers.map(() => bound)
    },
  }
  return requestOf(seat, call, { send: elements, recv: recv as TypedArray, layoutOptions })
}

function requestOf(
  { state, localIndex, handle }: CommSeat,
  call: CollectiveCall<Buffers, BoundCollective>,
  buffers: Buffers,
): PersistentRequest {
  return new PersistentRequest(handle, state.collectives.call(localIndex, call, buffers), [
    buffers.send,
    buffers.recv,
  ])
}

/** Rejects strided views: they would be packed once, not at every start. */
function checkBound(name: string, send: unknown, recv: unknown): void {
  if (ArrayBuffer.isView(send) && recv !== undefined && recv !== null) return
  throw new RankweaveError('ERR_TYPE', `${name}: expected typed arrays to send from and to receive into`)
}

/** Words of every value, by running the program once with the lengths as blocks. */
async function exchangeLengths(
  { program, traffic }: Neighborhood,
  buffers: readonly Buffers[],
  exchange: Exchange,
): Promise<Int32Array> {
  const store = new UniformStore(program, typeCode.Int32Array, elementSizeBytes(typeCode.Int32Array), 1)
  for (const [v, { send }] of buffers.entries()) store.words[v] = wordViewOf(send).length
  await new Promise<void>((resolve) => runProgram(program, exchange, store, resolve))
  countRun(traffic, program.counts)
  return store.words as Int32Array
}
