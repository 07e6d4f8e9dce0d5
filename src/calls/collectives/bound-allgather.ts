import { bytesOf, overlap } from '../../base/bytes.js'
import { type TypedArray, typeCode } from '../../messages/datatype/elements.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import { ElementStore } from '../plan/element-store.js'
import { segmentLengths } from '../plan/move-blocks.js'
import { ranksPerProcess } from '../plan/placement.js'
import { type Chosen, planMove } from '../plan/planned-move.js'
import { blocksInRankOrder, isRankOrder } from '../plan/process-order.js'
import type { BoundProgram } from '../program/bound-collective.js'

interface BoundArrays {
  readonly send: Uint8Array
  readonly recv: TypedArray
}

/** Binds an allgather of blocks of `sizeBytes` that starts from its buffers and lands in one of them. */
export function boundAllgather(
  state: CollectiveContext,
  chosen: Chosen,
  sizeBytes: number,
  arrays: readonly BoundArrays[],
): BoundProgram {
  const { processes, size } = state
  const plan = planMove(state, chosen)
  const ranks = ranksPerProcess(processes)
  const lengths = segmentLengths((process) => ranks[process] * sizeBytes, chosen.segments)
  const [{ send }] = arrays
  const results = arrays.map(({ recv }) => bytesOf(recv).subarray(0, sizeBytes * size))
  const [result] = results
  const slots = isRankOrder(processes) ? result : new Uint8Array(result.byteLength)
  // A single rank here may have its block already in its place in the result.
  const isThere = slots === result && isOwnSlot(state.localRanks[0], send, result)
  const isSent = arrays.length === 1 && (isThere || !overlap(send, result))
  const own = isSent ? send : new Uint8Array(arrays.length * sizeBytes)
  const store = new ElementStore(plan.program, plan.memory(), typeCode.Uint8Array, lengths, undefined)
  const sizes = new Float64Array(size).fill(sizeBytes)
  return {
    program: plan.program,
    store,
    fill() {
      if (!isSent) for (let i = 0; i < arrays.length; i++) own.set(arrays[i].send, i * sizeBytes)
      store.bind([own], slots)
    },
    deliver() {
      store.finish()
      if (slots !== result) {
        blocksInRankOrder(state, slots, sizes).forEach((block, rank) => {
          result.set(block, rank * sizeBytes)
        })
      }
      for (let i = 1; i < results.length; i++) results[i].set(result)
    },
  }
}

function isOwnSlot(rank: number, send: Uint8Array, recv: Uint8Array): boolean {
  return send.buffer === recv.buffer && send.byteOffset === recv.byteOffset + rank * send.byteLength
}
