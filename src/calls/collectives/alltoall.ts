import { copyBytes } from '../../base/bytes.js'
import { concatenate } from '../../base/packing.js'
import { elementSizeBytes, typeCode } from '../../messages/datatype/elements.js'
import { type CollectiveCall, RankFailure } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import { deliverAll, deliverBlocks, type Layout } from '../plan/deliver.js'
import type { Method } from '../plan/method.js'
import { moveShort, segmentLengths } from '../plan/move-blocks.js'
import { ranksByProcess, ranksPerProcess } from '../plan/placement.js'
import { type Chosen, chooseMove, planMove, requireMethod } from '../plan/planned-move.js'
import { blockFor, blocksFor, type SendBlocks } from '../plan/send-blocks.js'
import { landingOf } from '../plan/shared-landing.js'
import { alltoallLists } from './alltoall-lists.js'
import { isLong } from './block-list.js'
import { movePieces, planLists } from './move-lists.js'
import { gatherPairs, spreadPairs } from './pair-blocks.js'

export interface AlltoallContribution {
  readonly sendBlocks: SendBlocks
  readonly layout: Layout
}

type Contributions = readonly AlltoallContribution[]

/**
 * Returns an alltoall. The short blocks from the ranks of one process for those of another are one block of the
 * schedule. Long blocks travel one by one, each from its sender's array straight into its receiver's.
 *
 * @throws ERR_ALGORITHM when the method does not take this number of processes
 */
export function alltoallCall(
  state: CollectiveContext,
  name: 'alltoall' | 'alltoallv',
  sendBlocks: SendBlocks,
  method: Method | undefined,
): CollectiveCall<AlltoallContribution, unknown> {
  const { type } = sendBlocks
  const isEqual = name === 'alltoall' && type !== typeCode.value
  const sizeBytes = sendBlocks.sizes[0]
  requireMethod(state, method, { isSized: isEqual })
  return {
    signature: {
      name,
      type,
      ...(isEqual ? { count: sendBlocks.bytes.byteLength / elementSizeBytes(type) } : {}),
      ...(method === undefined ? {} : { method: method.name }),
    },
    run(all, exchange) {
      if (exchange.count === 1) {
        return all.map(({ layout }, localIndex) => {
          const blocks = all.map((from) => blockFor(from.sendBlocks, state.localRanks[localIndex]))
          return name === 'alltoallv'
            ? deliverBlocks(state, type, blocks, layout)
            : deliverAll(state, type, isEqual ? concatenate(blocks) : null, blocks, layout.into)
        })
      }
      if (!isEqual) {
        const plans = planLists(state, 'alltoall', method, 0)
        alltoallLists(state, plans, name === 'alltoallv' ? type : null, all, exchange)
        return undefined
      }
      const chosen = chooseMove(state, 'alltoall', method, sizeBytes)!
      const alltoall = isLong(exchange, sizeBytes) ? alltoallLong : alltoallShort
      alltoall(state, chosen, type, all, sizeBytes, exchange)
      return undefined
    },
  }
}

function alltoallShort(
  state: CollectiveContext,
  chosen: Chosen,
  type: number,
  all: Contributions,
  sizeBytes: number,
  exchange: Exchange,
): void {
  const { processes, size, localRanks } = state
  const here = all.length
  const totalBytes = size * sizeBytes
  const { me, count } = exchange
  let ranks: Int32Array | undefined
  // The blocks between ranks of this process do not pass through the plan.
  const lengths = segmentLengths((pair) => {
    ranks ??= ranksPerProcess(processes)
    const [from, to] = [Math.floor(pair / count), pair % count]
    return from === to ? 0 : ranks[from] * ranks[to] * sizeBytes
  }, chosen.segments)
  const fill = (own: Uint8Array) => {
    for (let i = 0; i < here; i++)
      spreadPairs(processes, all[i].sendBlocks.bytes, own, me, i, here, sizeBytes)
  }
  moveShort(
    planMove(state, chosen),
    sizeBytes,
    lengths,
    here * (size - here) * sizeBytes,
    fill,
    exchange,
    (slots) => {
      const results: unknown[] = new Array(here)
      for (let i = 0; i < here; i++) {
        const landing = landingOf(type, totalBytes, all[i].layout.into)
        results[i] = landing
        if (landing instanceof RankFailure) continue
        gatherPairs(processes, slots, landing.bytes, me, i, here, sizeBytes)
        for (let source = 0; source < here; source++) {
          const block = blockFor(all[source].sendBlocks, localRanks[i])
          copyBytes(landing.bytes, localRanks[source] * sizeBytes, block)
        }
        state.runtime.processCounters.bytesCopied += totalBytes
        results[i] = landing.finish()
      }
      exchange.finish(results)
    },
  )
}

function alltoallLong(
  state: CollectiveContext,
  chosen: Chosen,
  type: number,
  all: Contributions,
  sizeBytes: number,
  exchange: Exchange,
): void {
  const { me, count } = exchange
  const { localRanks } = state
  const ranks = ranksByProcess(state)
  const landings = all.map(({ layout }) => landingOf(type, state.size * sizeBytes, layout.into))
  const place = (localIndex: number, source: number) => {
    const landing = landings[localIndex]
    if (landing instanceof RankFailure) return null
    return landing.bytes.subarray(source * sizeBytes, (source + 1) * sizeBytes)
  }
  all.forEach(({ sendBlocks }, source) => {
    for (let localIndex = 0; localIndex < all.length; localIndex++) {
      const block = blockFor(sendBlocks, localRanks[localIndex])
      place(localIndex, localRanks[source])?.set(block)
    }
  })
  const own = (pair: number) => blocksFor(all, ranks[pair % count])
  const placesOf = (pair: number) => {
    const [from, to] = [Math.floor(pair / count), pair % count]
    if (to === me)
      return ranks[from].flatMap((source) => all.map((_, localIndex) => place(localIndex, source)))
    const blocks = ranks[from].length * ranks[to].length
    return Array.from({ length: blocks }, () => new Uint8Array(sizeBytes))
  }
  movePieces(planMove(state, chosen), chosen.segments, own, exchange, placesOf, () =>
    exchange.finish(landings.map((landing) => (landing instanceof RankFailure ? landing : landing.finish()))),
  )
}
