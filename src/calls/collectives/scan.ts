import { parseAlgorithm } from '../../collective/algorithm-text.js'
import { type TypedArray, typeCode } from '../../messages/datatype/elements.js'
import type { Exchange } from '../exchange/exchange.js'
import type { CollectiveContext, CollectivePlan } from '../plan/collective-plan.js'
import type { Method } from '../plan/method.js'
import { appendPrefixes, type Before, nodeValues } from '../values/fold.js'
import {
  deliverResult,
  leavesOf,
  type ReduceContribution,
  type Reduced,
  type Reduction,
  ReductionCall,
  ReductionRun,
} from './reduction.js'

/**
 * A `scan`, which includes a rank's own value, or an `exscan`, which does not. Every run of consecutive ranks is one
 * participant. It contributes the combination of its ranks and gets that of all runs before it, by the algorithm of the
 * same name for `exscan`. If runs have one rank each, an algorithm that the ranks have chosen for `scan` runs
 * unchanged.
 */
export class ScanCall extends ReductionCall<ReductionRun> {
  constructor(state: CollectiveContext, reduction: Reduction, method: Method | undefined) {
    super(state, 'exscan', reduction, method, {}, exclusive(method))
  }

  protected override prepare(plan: CollectivePlan | null): ReductionRun {
    const { kind, process } = plan!.participants
    const isNamed = this.method?.isAuto !== true
    const isDirect =
      isNamed && this.reduction.name === 'scan' && kind === 'runs' && process.length === this.state.size
    const own = isDirect ? (this.plan('scan', this.method) as CollectivePlan) : plan!
    return new ReductionRun(own, this.reduction)
  }

  protected override runBy(
    run: ReductionRun,
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
  ): void {
    const { state, reduction } = this
    const { combiner, plan } = run
    const { own, ownFirst } = plan.participants
    const leaves = leavesOf(reduction.type, contributions)
    const nodes = Array.from(own, (_, i) =>
      nodeValues(combiner, leaves, ownFirst[i], ownFirst[i + 1] - ownFirst[i]),
    )
    const resultsOf = (reduced: Reduced): (TypedArray | null)[] => {
      if (plan.algorithm.collective === 'scan')
        return nodes.map((_, i) => combiner.toData(reduced.slot(i)).slice())
      const prefixes: (Before<unknown> | undefined)[] = []
      // A value that precedes a participant may be one that a rank here contributes.
      const owned = reduction.type !== typeCode.value
      own.forEach((participant, i) => {
        const before = participant === 0 ? null : { value: reduced.slot(i), owned }
        appendPrefixes(combiner, nodes[i], before, prefixes)
      })
      return prefixes.map((prefix, localIndex) => {
        if (reduction.name !== 'scan') return prefix === undefined ? null : combiner.toData(prefix.value)
        const value = leaves.values[localIndex]
        if (prefix === undefined) return combiner.toData(value)
        return combiner.toData(combiner.combine(prefix.value, prefix.owned, value, false))
      })
    }
    run.run(
      { values: nodes.map((levels) => levels[levels.length - 1][0]), owned: false },
      exchange,
      (sizeBytes) => new Uint8Array(sizeBytes),
      (reduced) => {
        // All results are computed before the first is written. `into` may be data that another rank still reads, or
        // that is being sent.
        const results = resultsOf(reduced)
        exchange.whenSent(() => {
          if (exchange.hasFailed) return
          exchange.finish(
            results.map((data, localIndex) =>
              data === null ? null : deliverResult(state, reduction, data, contributions[localIndex].into),
            ),
          )
        })
      },
    )
  }
}

function exclusive(method: Method | undefined): Method | undefined {
  if (method?.algorithm === undefined || method.algorithm.collective === 'exscan') return method
  return { ...method, ...parseAlgorithm(`ex${method.algorithm.id}`, 'exscan') }
}
