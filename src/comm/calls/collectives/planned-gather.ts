import { bytesOf } from '../../../base/bytes.js'
import type { Exchange } from '../exchange.js'
import { allgatherThen } from '../exchange-patterns.js'
import { byRank, ranksPerProcess } from './blocks/placement.js'
import { blocksInRankOrder, isRankOrder, joined, sumsByProcess } from './blocks/process-order.js'
import { SharedLanding, type Wanted } from './blocks/shared-landing.js'
import type { CollectiveContext } from './plan/collective-context.js'
import { moveBlocks, segmentLengths } from './plan/move-blocks.js'
import { type Chosen, planMove } from './plan/planned-move.js'

/**
 * Gathers blocks of one length by a plan. Completes the collective.
 *
 * @param root process that wants them, or null for all
 * @param wanted what each rank here wants, by local index
 */
export function gatherEqual(
  state: CollectiveContext,
  chosen: Chosen,
  root: number | null,
  type: number,
  mine: readonly Uint8Array[],
  wanted: readonly Wanted[],
  exchange: Exchange,
): void {
  const { processes, size } = state
  const sizeBytes = mine[0]!.byteLength
  const isWanted = root === null || root === exchange.me
  const plan = planMove(state, chosen, root ?? 0)
  const ranks = ranksPerProcess(processes)
  const lengths = segmentLengths((process) => ranks[process]! * sizeBytes, chosen.segments)
  const landing = new SharedLanding(
    state,
    type,
    isWanted ? size * sizeBytes : 0,
    isWanted ? wanted : mine.map(() => null),
  )
  const slots = isRankOrder(processes) ? landing.bytes : new Uint8Array(landing.bytes.byteLength)
  moveBlocks(plan, lengths, [joined(mine)], slots, exchange, () => {
    if (slots !== landing.bytes && isWanted) {
      const sizes = new Float64Array(size).fill(sizeBytes)
      let at = 0
      for (const block of blocksInRankOrder(state, slots, sizes)) {
        landing.bytes.set(block, at)
        at += sizeBytes
      }
    }
    exchange.finish(landing.results())
  })
}

/**
 * Gathers blocks of any lengths by a plan, whose lengths all processes exchange first.
 *
 * @param done gets the blocks of all ranks, by rank; nothing on a process that does not want them
 */
export function gatherVarying(
  state: CollectiveContext,
  chosen: Chosen,
  root: number | null,
  mine: readonly Uint8Array[],
  exchange: Exchange,
  done: (blocks: readonly Uint8Array[] | null) => void,
): void {
  const own = bytesOf(Float64Array.from(mine, (block) => block.byteLength))
  allgatherThen(exchange, own, 0, (lists) => {
    const perProcess = lists.map((bytes) => Array.from(new Float64Array(bytes.slice().buffer)))
    const sizes = byRank(state.processes, perProcess)
    const sums = sumsByProcess(state.processes, sizes)
    const isWanted = root === null || root === exchange.me
    const slots = new Uint8Array(isWanted ? sums.reduce((a, b) => a + b, 0) : 0)
    const plan = planMove(state, chosen, root ?? 0)
    const lengths = segmentLengths((process) => sums[process]!, chosen.segments)
    moveBlocks(plan, lengths, [joined(mine)], slots, exchange, () =>
      done(isWanted ? blocksInRankOrder(state, slots, sizes) : null),
    )
  })
}
