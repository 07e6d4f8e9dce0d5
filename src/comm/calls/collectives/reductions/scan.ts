import { algorithmOf } from '../../../../collective/algorithms.js'
import { RankweaveError } from '../../../../errors.js'
import type { TypedArray } from '../../../datatype/elements.js'
import { type CollectiveCall, failAllRanks } from '../../collective-call.js'
import type { Exchange } from '../../exchange.js'
import { allSent } from '../../exchange-patterns.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import type { Method } from '../plan/method.js'
import type { Combiner } from '../reduce/combiner.js'
import { type Leaves, piecePrefixes, prefixTree } from '../reduce/tree.js'
import { leavesOf, newCombiner } from './along-tree.js'
import { MaybePlanned, planReduction } from './planned-reduction.js'
import { deliverResult, type ReduceContribution, type Reduction, signatureOf } from './reduction.js'
import { partLengths, ReductionRun } from './reduction-run.js'
import { planTogether, reductionPlan } from './tree-reduction-plan.js'

/**
 * By a plan, or up and down the tree of processes: `scan` includes a rank's own value, `exscan` does not.
 *
 * @throws ERR_ALGORITHM
 */
export function scanCall(
  state: CollectiveContext,
  reduction: Reduction,
  method: Method | undefined,
): CollectiveCall<ReduceContribution, unknown> {
  const isChosen = method?.algorithm !== undefined
  const planned = new MaybePlanned(!isChosen || state.isPlaced, () =>
    isChosen ? plannedScan(state, reduction, method) : null,
  )
  return {
    signature: signatureOf(reduction, method && { method: method.name }),
    unplaced: !isChosen,
    async run(contributions, exchange) {
      const run = planned.get()
      if (run instanceof RankweaveError) return failAllRanks(contributions.length, run)
      const combiner = newCombiner(reduction)
      const leaves = leavesOf(reduction.type, contributions)
      // All results are computed before the first is written, because `into` may be data that another rank still
      // reads.
      const results =
        run === null
          ? await alongTree(state, reduction, combiner, leaves, exchange)
          : await run(contributions, combiner, leaves, exchange)
      // What this process contributes may be the memory that `into` fills.
      await allSent(exchange)
      if (exchange.hasFailed) return undefined
      return results.map((data, localIndex) =>
        data === null ? null : deliverResult(state, reduction, data, contributions[localIndex]!.into),
      )
    },
  }
}

async function alongTree(
  state: CollectiveContext,
  reduction: Reduction,
  combiner: Combiner<unknown>,
  leaves: Leaves<unknown>,
  exchange: Exchange,
): Promise<(TypedArray | null)[]> {
  const plan = reductionPlan(state) ?? (await planTogether(state, exchange))
  const prefixes = await prefixTree(plan, combiner, leaves, exchange)
  return prefixes.map((prefix, localIndex) =>
    resultOf(state, reduction, combiner, leaves, localIndex, prefix),
  )
}

/** Of a rank here, from the combination of all ranks before it. */
function resultOf(
  { localRanks }: CollectiveContext,
  { name }: Reduction,
  combiner: Combiner<unknown>,
  leaves: Leaves<unknown>,
  localIndex: number,
  prefix: unknown,
): TypedArray | null {
  const isFirst = localRanks[localIndex] === 0
  if (name === 'exscan') return isFirst ? null : combiner.toData(prefix)
  const own = leaves.values[localIndex]
  return combiner.toData(isFirst ? own : combiner.combine(prefix, false, own, false))
}

type PlannedScan = (
  contributions: readonly ReduceContribution[],
  combiner: Combiner<unknown>,
  leaves: Leaves<unknown>,
  exchange: Exchange,
) => Promise<(TypedArray | null)[]>

/**
 * Every run of consecutive ranks takes part with the combination of its ranks. Where runs have one rank each, the plan is that
 * of the scan itself; else that of the algorithm of the same name for `exscan`, which gives each run what is before it.
 */
function plannedScan(state: CollectiveContext, reduction: Reduction, method: Method): PlannedScan | null {
  const before = planReduction(state, 'exscan', reduction, exclusive(method))
  if (before === null) return null
  const { participants } = before
  const { own, ownFirst, process } = participants
  const isDirect = process.length === state.size && reduction.name === 'scan'
  const plan = isDirect ? planReduction(state, 'scan', reduction, method)! : before
  const run = new ReductionRun(plan, reduction, partLengths(reduction.countElems, plan.parts))
  const room = (sizeBytes: number): Uint8Array => new Uint8Array(sizeBytes)
  return (contributions, combiner, leaves, exchange) =>
    new Promise((resolve) =>
      run.run(contributions, exchange, room, (slots) => {
        const { countElems } = reduction
        let at = 0
        const next = (): TypedArray => {
          at += countElems
          return slots.slice(at - countElems, at)
        }
        if (isDirect) {
          resolve(contributions.map(next))
          return
        }
        const prefixes: unknown[] = []
        own.forEach((participant, i) => {
          const value = participant === 0 ? null : { value: next() }
          const ranks = ownFirst[i + 1]! - ownFirst[i]!
          piecePrefixes<unknown>(combiner, leaves, ownFirst[i]!, ranks, value, prefixes)
        })
        resolve(
          prefixes.map((prefix, localIndex) =>
            resultOf(state, reduction, combiner, leaves, localIndex, prefix),
          ),
        )
      }),
    )
}

function exclusive(method: Method): Method {
  const { id, collective } = method.algorithm!
  return collective === 'exscan' ? method : { ...method, algorithm: algorithmOf(`ex${id}`, 'exscan') }
}
