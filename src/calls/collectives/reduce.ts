import type { TypedArray } from '../../messages/datatype/elements.js'
import type { Exchange } from '../exchange/exchange.js'
import type { CollectiveContext, CollectivePlan } from '../plan/collective-plan.js'
import type { Method } from '../plan/resolve.js'
import { SharedLanding } from '../values/deliver.js'
import { localIndexOf } from '../values/placement.js'
import {
  deliverResult,
  leavesOf,
  type ReduceContribution,
  type Reduction,
  ReductionRun,
} from './reduction.js'
import { ReductionCall } from './reduction-call.js'

/** A reduce whose ranks get null, except for the root. */
export class ReduceCall extends ReductionCall<ReductionRun> {
  readonly #root: number

  constructor(state: CollectiveContext, reduction: Reduction, root: number, method: Method | undefined) {
    super(state, 'reduce', reduction, method, { root })
    this.#root = root
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
    const rootIndex = localIndexOf(state, this.#root)
    let landing: SharedLanding | undefined
    const room = (sizeBytes: number): Uint8Array => {
      const wanted = contributions.map(({ into }, index) => (index === rootIndex ? into : null))
      landing = new SharedLanding(state, reduction.type, sizeBytes, wanted)
      return landing.bytes
    }
    const finish = (data: TypedArray) =>
      exchange.finish(
        contributions.map(({ into }, localIndex) =>
          localIndex === rootIndex ? deliverResult(state, reduction, data, into) : null,
        ),
      )
    run.run(run.folded(leavesOf(reduction.type, contributions)), exchange, room, ({ data }) => {
      if (landing === undefined) finish(data)
      else exchange.whenSent(() => exchange.finish(landing!.results()))
    })
  }
}
