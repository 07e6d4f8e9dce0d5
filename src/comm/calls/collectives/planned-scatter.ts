import { typeCode } from '../../datatype/elements.js'
import type { Landing } from '../../datatype/payload.js'
import type { ReceiveBuffer } from '../../datatype/strided-view.js'
import { RankFailure } from '../collective-call.js'
import { copyOf, type Exchange, noBytes } from '../exchange.js'
import { parentIn, sendToChildren } from '../exchange-patterns.js'
import { deliver } from './blocks/deliver.js'
import { byProcess } from './blocks/placement.js'
import { joined, sumsByProcess } from './blocks/process-order.js'
import { blockFor, type SendBlocks } from './blocks/send-blocks.js'
import { landingOf } from './blocks/shared-landing.js'
import { decodeHead, encodeHead } from './plan/call-head.js'
import type { CollectiveContext } from './plan/collective-context.js'
import { moveBlocks, segmentLengths } from './plan/move-blocks.js'
import { type Chosen, planMove } from './plan/planned-move.js'

const headStep = 0

/** The root's side of a scatter by a plan. `done` is called when its blocks have been handed over. */
export function scatterPlanned(
  state: CollectiveContext,
  chosen: Chosen,
  sendBlocks: SendBlocks,
  exchange: Exchange,
  done: () => void,
): void {
  const { me } = exchange
  const { type, sizes } = sendBlocks
  sendToChildren(exchange, me, encodeHead({ ...chosen, type, sizes }), headStep)
  const blocks = Array.from({ length: state.size }, (_, rank) => blockFor(sendBlocks, rank))
  const own = joined(byProcess(state.processes, blocks).map(joined))
  const sums = sumsByProcess(state.processes, sizes)
  const slots = new Uint8Array(sums[me]!)
  moveBlocks(planMove(state, chosen, me), lengthsOf(chosen, sums), [own], slots, exchange, done)
}

/** The other processes' side. Completes the collective. @param intos by local index */
export function receivePlanned(
  state: CollectiveContext,
  root: number,
  intos: readonly (ReceiveBuffer | undefined)[],
  exchange: Exchange,
): void {
  exchange.take(parentIn(exchange, root), headStep, (bytes, owned) => {
    sendToChildren(exchange, root, bytes, headStep)
    const head = decodeHead(owned ? bytes : copyOf(bytes))
    const { type, sizes } = head
    const sums = sumsByProcess(state.processes, sizes)
    const mySizes = Array.from(state.localRanks, (rank) => sizes[rank]!)
    const landing = mySizes.length === 1 ? landingOf(type, mySizes[0]!, intos[0]) : null
    const slots =
      landing === null || landing instanceof RankFailure ? new Uint8Array(sums[exchange.me]!) : landing.bytes
    moveBlocks(planMove(state, head, root), lengthsOf(head, sums), [noBytes], slots, exchange, () =>
      exchange.finish(landing === null ? resultsOf(state, type, slots, mySizes, intos) : [resultOf(landing)]),
    )
  })
}

function lengthsOf({ segments }: Chosen, sums: Float64Array) {
  return segmentLengths((process) => sums[process]!, segments)
}

function resultOf(landing: Landing | RankFailure): unknown {
  return landing instanceof RankFailure ? landing : landing.finish()
}

function resultsOf(
  state: CollectiveContext,
  type: number,
  slots: Uint8Array,
  sizes: readonly number[],
  intos: readonly (ReceiveBuffer | undefined)[],
): unknown[] {
  let at = 0
  return sizes.map((size, localIndex) => {
    at += size
    const block = slots.subarray(at - size, at)
    // A decoded value may be a view of its bytes.
    return deliver(state, type, type === typeCode.value ? block.slice() : block, intos[localIndex])
  })
}
