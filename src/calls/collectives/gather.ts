import { concatenate } from '../../base/packing.js'
import { typeCode } from '../../messages/datatype/elements.js'
import type { Exchange } from '../exchange.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import { type Block, deliver, deliverAll, deliverBlocks, type Layout } from '../plan/deliver.js'
import type { Method } from '../plan/method.js'
import { moveBlocks, moveShort, segmentLengths } from '../plan/move-blocks.js'
import { mostRetainedBytes } from '../plan/move-memory.js'
import { localIndexOf, processOfRank, ranksByProcess, ranksPerProcess } from '../plan/placement.js'
import { type Chosen, chooseMove, planMove, requireMethod } from '../plan/planned-move.js'
import { blocksInRankOrder, isRankOrder, joinedBlocks } from '../plan/process-order.js'
import { SharedLanding, type Wanted } from '../plan/shared-landing.js'
import type { BindableCall } from '../program/bound-collective.js'
import type { Signature } from '../signature.js'
import { isLong } from './block-list.js'
import { boundAllgather } from './bound-allgather.js'
import { gatherLists } from './gather-lists.js'
import { movePieces, planLists } from './move-lists.js'

export interface GatherContribution {
  readonly block: Block
  readonly layout: Layout
}

type GatherName = 'gather' | 'gatherv' | 'allgather' | 'allgatherv'

/**
 * Returns one of the four gathers: `root` is null for those with the result on every rank; names ending in v take
 * blocks of varying lengths. Short blocks of the ranks of a process are one block of the schedule. Long ones travel one
 * by one, each from its rank's array straight into a result.
 *
 * @throws ERR_ALGORITHM when the method does not take this number of processes
 */
export function gatherCall(
  state: CollectiveContext,
  name: GatherName,
  root: number | null,
  block: Block,
  method: Method | undefined,
): BindableCall<GatherContribution> {
  const { type } = block
  const isVarying = name === 'gatherv' || name === 'allgatherv'
  const isEqual = !isVarying && type !== typeCode.value
  const sizeBytes = block.bytes.byteLength
  const collective = root === null ? 'allgather' : 'gather'
  requireMethod(state, method, { isSized: isEqual })
  return {
    signature: signatureOf(name, root, isEqual, block, method),
    run(contributions, exchange) {
      const mine = contributions.map((part) => part.block.bytes)
      const wanting = root === null ? null : localIndexOf(state, root)
      const wants = (localIndex: number) => wanting === null || wanting === localIndex
      if (exchange.count === 1) {
        const flat = isEqual ? concatenate(mine) : null
        return contributions.map(({ layout }, localIndex) => {
          if (!wants(localIndex)) return null
          return isVarying
            ? deliverBlocks(state, type, mine, layout)
            : deliverAll(state, type, flat, mine, layout.into)
        })
      }
      const rootProcess = root === null ? null : processOfRank(state.processes, root)
      if (!isEqual) {
        const layouts = contributions.map(({ layout }, index) => (wants(index) ? layout : null))
        const plans = planLists(state, collective, method, rootProcess ?? 0)
        gatherLists(state, plans, rootProcess, isVarying ? type : null, mine, layouts, exchange)
        return undefined
      }
      const chosen = chooseMove(state, collective, method, sizeBytes)!
      const wanted = contributions.map(({ layout }, index) => (wants(index) ? layout.into : null))
      const gather = isLong(exchange, sizeBytes) ? gatherLong : gatherShort
      gather(state, chosen, rootProcess, type, mine, wanted, exchange)
      return undefined
    },
    bind(contributions) {
      const chosen = chooseMove(state, collective, method, sizeBytes)!
      const arrays = contributions.map((each) => ({ send: each.block.bytes, recv: each.layout.into! }))
      return boundAllgather(state, chosen, sizeBytes, arrays)
    },
  }
}

function signatureOf(
  name: GatherName,
  root: number | null,
  isEqual: boolean,
  { type, countElems }: Block,
  method: Method | undefined,
): Signature {
  return {
    name,
    type,
    ...(root === null ? {} : { root }),
    ...(isEqual ? { count: countElems } : {}),
    ...(method === undefined ? {} : { method: method.name }),
  }
}

/** Gathers short blocks: those of a process lie side by side as one block of the schedule. */
function gatherShort(
  state: CollectiveContext,
  chosen: Chosen,
  root: number | null,
  type: number,
  mine: readonly Uint8Array[],
  wanted: readonly Wanted[],
  exchange: Exchange,
): void {
  const { processes, size } = state
  const sizeBytes = mine[0].byteLength
  const ownBytes = mine.length * sizeBytes
  const isWanted = root === null || root === exchange.me
  const isOrdered = isRankOrder(processes)
  const plan = planMove(state, chosen, root ?? 0)
  let ranks: Int32Array | undefined
  const lengths = segmentLengths((process) => {
    ranks ??= ranksPerProcess(processes)
    return ranks[process] * sizeBytes
  }, chosen.segments)
  const fill = (own: Uint8Array) => {
    for (let i = 0; i < mine.length; i++) own.set(mine[i], i * sizeBytes)
  }
  if (isWanted && isOrdered && size * sizeBytes > mostRetainedBytes) {
    const landing = new SharedLanding(state, type, size * sizeBytes, wanted)
    const start = state.localRanks[0] * sizeBytes
    const own = landing.bytes.subarray(start, start + ownBytes)
    fill(own)
    moveBlocks(plan, lengths, [own], landing.bytes, exchange, () => exchange.finish(landing.results()))
    return
  }
  moveShort(plan, sizeBytes, lengths, ownBytes, fill, exchange, (slots) => {
    const flat = isWanted && !isOrdered ? inRankOrder(state, slots, sizeBytes) : slots
    const results: unknown[] = new Array(wanted.length)
    for (let i = 0; i < wanted.length; i++) {
      const into = wanted[i]
      results[i] = into === null ? null : deliver(state, type, flat, into)
    }
    exchange.finish(results)
  })
}

function inRankOrder(state: CollectiveContext, slots: Uint8Array, sizeBytes: number): Uint8Array {
  return joinedBlocks(blocksInRankOrder(state, slots, new Float64Array(state.size).fill(sizeBytes)))
}

/** Gathers long blocks, which are copied only into the result. */
function gatherLong(
  state: CollectiveContext,
  chosen: Chosen,
  root: number | null,
  type: number,
  mine: readonly Uint8Array[],
  wanted: readonly Wanted[],
  exchange: Exchange,
): void {
  const sizeBytes = mine[0].byteLength
  const isWanted = root === null || root === exchange.me
  const landing = isWanted ? new SharedLanding(state, type, state.size * sizeBytes, wanted) : null
  const place = (rank: number) =>
    landing === null ? null : landing.bytes.subarray(rank * sizeBytes, (rank + 1) * sizeBytes)
  for (let i = 0; i < mine.length; i++) place(state.localRanks[i])?.set(mine[i])
  let ranks: number[][] | undefined
  const placesOf = (process: number, isRelayed: boolean) => {
    ranks ??= ranksByProcess(state)
    return ranks[process].map((rank) => place(rank) ?? (isRelayed ? new Uint8Array(sizeBytes) : null))
  }
  const plan = planMove(state, chosen, root ?? 0)
  movePieces(
    plan,
    chosen.segments,
    () => mine,
    exchange,
    placesOf,
    () => exchange.finish(landing === null ? mine.map(() => null) : landing.results()),
  )
}
