import { bytesOf } from '../../../../base/bytes.js'
import { concatenate } from '../../../../base/packing.js'
import { RankweaveError } from '../../../../errors.js'
import { elementSizeBytes } from '../../../datatype/elements.js'
import { type CollectiveCall, failAllRanks } from '../../collective-call.js'
import { scatterFrom } from '../../exchange-patterns.js'
import { hashIntegers } from '../../signature.js'
import { deliver, packedDispls } from '../blocks/deliver.js'
import { byProcess } from '../blocks/placement.js'
import { isRankOrder, sumsByProcess } from '../blocks/process-order.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import type { CollectivePlan } from '../plan/collective-plan.js'
import type { Method } from '../plan/method.js'
import { afterTree } from '../reduce/tree.js'
import { newCombiner, reduceToFirst } from './along-tree.js'
import { MaybePlanned, planReduction } from './planned-reduction.js'
import { type ReduceContribution, type Reduction, signatureOf } from './reduction.js'
import { pairCut, ReductionRun } from './reduction-run.js'

/**
 * By a plan, or reduced up the tree of processes to the first, which sends each rank's block to its process.
 *
 * @throws ERR_ALGORITHM
 */
export function reduceScatterCall(
  state: CollectiveContext,
  reduction: Reduction,
  counts: Int32Array,
  method: Method | undefined,
): CollectiveCall<ReduceContribution, unknown> {
  const isChosen = method?.algorithm !== undefined
  const planned = new MaybePlanned(!isChosen || state.isPlaced, () => {
    const plan = isChosen ? planReduction(state, 'reduce-scatter', reduction, method) : null
    return plan === null ? null : plannedRun(state, plan, reduction, counts)
  })
  return {
    signature: signatureOf(reduction, {
      extra: hashIntegers(counts),
      ...(method === undefined ? {} : { method: method.name }),
    }),
    run(contributions, exchange) {
      const elemBytes = elementSizeBytes(reduction.type)
      const finish = (mine: Uint8Array) => {
        let at = 0
        const results = contributions.map(({ into }, localIndex) => {
          const end = at + counts[state.localRanks[localIndex]!]! * elemBytes
          const block = mine.subarray(at, end)
          at = end
          return deliver(state, reduction.type, block, into)
        })
        exchange.finish(results)
      }
      const run = planned.get()
      if (run instanceof RankweaveError) return failAllRanks(contributions.length, run)
      if (run !== null) {
        const room = (sizeBytes: number) => new Uint8Array(sizeBytes)
        run.run(contributions, exchange, room, (slots) =>
          // What a rank contributes may be the memory that its result fills.
          exchange.whenSent(() => finish(bytesOf(slots))),
        )
        return undefined
      }
      return reduceToFirst(state, reduction, newCombiner(reduction), contributions, exchange, (data) => {
        if (exchange.count === 1) finish(bytesOf(data!))
        else if (data === null) exchange.take(0, afterTree, finish)
        else
          finish(scatterFrom(exchange, blocksPerProcess(state, bytesOf(data), counts, elemBytes), afterTree))
      })
    },
  }
}

/** @throws ERR_ALGORITHM for pairs of elements that the counts would part */
function plannedRun(
  state: CollectiveContext,
  plan: CollectivePlan,
  reduction: Reduction,
  counts: Int32Array,
): ReductionRun {
  const { firstRank } = plan.participants
  const { segments = 1 } = plan.shape
  const displs = packedDispls(counts)
  const units =
    firstRank === null
      ? sumsByProcess(state.processes, counts)
      : Float64Array.from(plan.participants.process, (_, participant) => {
          const [first, end] = [firstRank[participant]!, firstRank[participant + 1]!]
          return displs[end - 1]! + counts[end - 1]! - displs[first]!
        })
  const isPair = reduction.op.name === 'minloc' || reduction.op.name === 'maxloc'
  if (isPair && counts.some((count) => count % 2 !== 0)) {
    throw new RankweaveError('ERR_ALGORITHM', `${plan.algorithm.id}: the counts part pairs of elements`)
  }
  const parts = plan.shape.ranks * segments
  const lengthOf = (term: number): number => {
    const part = term < 0 ? ~term : term % parts
    const unit = units[Math.floor(part / segments)]!
    const segment = part % segments
    return pairCut(unit, segments, segment + 1) - pairCut(unit, segments, segment)
  }
  const order = firstRank === null && !isRankOrder(state.processes) ? state.processes : null
  return new ReductionRun(plan, reduction, lengthOf, order === null ? null : rangesOf(state, counts, displs))
}

/** Where the elements of the ranks are, process by process. */
function rangesOf(state: CollectiveContext, counts: Int32Array, displs: Int32Array) {
  const ranks = byProcess(
    state.processes,
    Array.from(counts, (_, rank) => rank),
  ).flat()
  return ranks.map((rank) => ({ start: displs[rank]!, end: displs[rank]! + counts[rank]! }))
}

function blocksPerProcess(
  state: CollectiveContext,
  bytes: Uint8Array,
  counts: Int32Array,
  elemBytes: number,
): Uint8Array[] {
  const displs = packedDispls(counts)
  const blocks = Array.from(counts, (count, rank) =>
    bytes.subarray(displs[rank]! * elemBytes, (displs[rank]! + count) * elemBytes),
  )
  return byProcess(state.processes, blocks).map(concatenate)
}
