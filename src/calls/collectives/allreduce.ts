import type { TypedArray } from '../../messages/datatype/elements.js'
import type { Exchange } from '../exchange.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import type { CollectivePlan } from '../plan/collective-plan.js'
import type { Method } from '../plan/method.js'
import { SharedLanding } from '../plan/shared-landing.js'
import { deliverResult, type ReduceContribution, type Reduction } from './reduction.js'
import { ReductionCall } from './reduction-call.js'
import { leavesOf, ReductionRun } from './reduction-run.js'

/** By a plan. */
export class AllreduceCall extends ReductionCall<ReductionRun> {
  constructor(state: CollectiveContext, reduction: Reduction, method: Method | undefined) {
    super(state, 'allreduce', reduction, method)
  }

  protected override prepare(plan: CollectivePlan | null): ReductionRun {
    return new ReductionRun(plan!, this.reduction)
  }

  protected override runBy(
    run: ReductionRun,
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
  ): void {
    const { state, reduction } = this
    let landing: SharedLanding | undefined
    const room = (sizeBytes: number): Uint8Array => {
      const wanted = contributions.map(({ into }) => into)
      landing = new SharedLanding(state, reduction.type, sizeBytes, wanted)
      return landing.bytes
    }
    const own = run.folded(leavesOf(reduction.type, contributions))
    run.run(own, exchange, room, ({ data }) => {
      if (landing === undefined) this.#finish(contributions, exchange, data)
      // What is sent may be the memory that another rank's result is copied to.
      else exchange.whenSent(() => exchange.finish(landing!.results()))
    })
  }

  #finish(contributions: readonly ReduceContribution[], exchange: Exchange, data: TypedArray): void {
    const results: unknown[] = new Array(contributions.length)
    for (let i = 0; i < contributions.length; i++)
      results[i] = deliverResult(this.state, this.reduction, data, contributions[i].into)
    exchange.finish(results)
  }
}
