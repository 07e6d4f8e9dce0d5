import { overlap } from '../../base/bytes.js'
import { whenThere } from '../../base/turn.js'
import { newArray, plainArray, type TypedArray } from '../../messages/datatype/elements.js'
import { misfit } from '../../messages/datatype/payload.js'
import { StridedView } from '../../messages/datatype/strided-view.js'
import type { Exchange } from '../exchange/exchange.js'
import type { CollectiveContext, CollectivePlan } from '../plan/collective-plan.js'
import type { Method } from '../plan/method.js'
import { type BoundProgram, filled } from '../program/planned-call.js'
import { SharedLanding } from '../values/deliver.js'
import { localIndexOf } from '../values/placement.js'
import {
  deliverResult,
  leavesOf,
  type ReduceContribution,
  type Reduction,
  ReductionCall,
  ReductionRun,
} from './reduction.js'

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

/** An allreduce, whose ranks all get the result. */
export class AllreduceCall extends ReductionCall<ReductionRun> {
  /** The options whose names were checked in an earlier call, by place in the list of all ranks here. */
  readonly checkedOptions: unknown[] = []
  /** The contributions to the last run of few elements, which have been checked. */
  #lastArrays: readonly ReduceContribution[] | undefined
  /** The receive buffers of the ranks that repeat them; undefined unless all are arrays with room for the result. */
  #targets: readonly TypedArray[] | undefined

  constructor(state: CollectiveContext, reduction: Reduction, method: Method | undefined) {
    super(state, 'allreduce', reduction, method)
  }

  /** Tells whether all ranks of a process may pass their numbers together. */
  takesNumbers(op: unknown): boolean {
    const { scalar, op: own } = this.reduction
    return scalar === 'number' && own.kind === 'kernel' && own.name === op
  }

  /**
   * Returns the contributions of the last run if they are intact arrays of a few elements and the operation is the
   * same.
   */
  lastArrays(op: unknown): readonly ReduceContribution[] | undefined {
    const { countElems, op: own } = this.reduction
    const last = this.#lastArrays
    if (own.kind !== 'kernel' || own.name !== op || last === undefined) return undefined
    // A detached array has length 0.
    const isThere = ({ data, into }: ReduceContribution) =>
      data.length === countElems && (into === undefined || into.length >= countElems)
    return last.every(isThere) ? last : undefined
  }

  #runNumbers(run: ReductionRun, numbers: Float64Array, exchange: Exchange): void {
    const room = (sizeBytes: number) => new Uint8Array(sizeBytes)
    run.run(run.foldedNumbers(numbers), exchange, room, ({ data }) => {
      exchange.finish(new Array<number>(numbers.length).fill(data[0] as number))
    })
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
    const { numbers } = contributions[0]
    if (numbers !== undefined) {
      this.#runNumbers(run, numbers, exchange)
      return
    }
    if (contributions !== this.#lastArrays) {
      const isRetained =
        run.isSmall &&
        reduction.scalar === null &&
        reduction.countElems > 0 &&
        !contributions.some(({ into }) => into instanceof StridedView)
      this.#lastArrays = isRetained ? contributions : undefined
      this.#targets = this.#lastArrays && targetsOf(reduction, contributions)
    }
    let landing: SharedLanding | undefined
    const room = (sizeBytes: number): Uint8Array => {
      const wanted = contributions.map(({ into }) => into)
      landing = new SharedLanding(state, reduction.type, sizeBytes, wanted)
      return landing.bytes
    }
    const own = run.folded(leavesOf(reduction.type, contributions))
    run.run(own, exchange, room, ({ data }) => {
      if (landing === undefined) this.#finish(contributions, exchange, data)
      // The memory that is sent may be what another rank's result is copied to.
      else exchange.whenSent(() => exchange.finish(landing!.results()))
    })
  }

  /** Binds the program to the result of the first rank, where it combines; the others copy it. */
  bind(contributions: readonly ReduceContribution[]): BoundProgram | Promise<BoundProgram> {
    // No address is looked up, because ranks are placed and the rule has an allreduce for all.
    return whenThere(this.plan('allreduce', this.method), (plan) => this.#bound(plan!, contributions))
  }

  #bound(plan: CollectivePlan, contributions: readonly ReduceContribution[]): BoundProgram {
    const { type, countElems } = this.reduction
    const run = new ReductionRun(plan, this.reduction)
    const results = contributions.map(({ into }) => (into as TypedArray).subarray(0, countElems))
    const [result] = results
    const { data } = contributions[0]
    // Contributions are sent from their own arrays unless results are written there.
    const isSent = contributions.length === 1 && !overlap(data, result)
    const own = isSent ? [data] : Array.from(plan.participants.own, () => newArray(type, countElems))
    const store = run.newStore(false)
    const leaves = leavesOf(type, contributions)
    return {
      plan,
      store,
      fill() {
        if (!isSent) {
          run.folded(leaves).values.forEach((value, i) => {
            ;(own[i] as Float64Array).set(value as Float64Array)
          })
        }
        store.bind(own, result)
      },
      deliver() {
        store.finish()
        for (let i = 1; i < results.length; i++) (results[i] as Float64Array).set(result as Float64Array)
        return filled
      },
    }
  }

  #finish(contributions: readonly ReduceContribution[], exchange: Exchange, data: TypedArray): void {
    const results: unknown[] = new Array(contributions.length)
    const targets = contributions === this.#lastArrays ? this.#targets : undefined
    for (let i = 0; i < results.length; i++) {
      const { into } = contributions[i]
      const target = targets?.[i]
      if (target === undefined || target.length < data.length)
        results[i] = deliverResult(this.state, this.reduction, data, into)
      else {
        for (let e = 0; e < data.length; e++) target[e] = data[e]
        this.state.runtime.processCounters.bytesCopied += data.byteLength
        results[i] = into
      }
    }
    exchange.finish(results)
  }
}

/** Returns the receive buffers as plain arrays, if all ranks pass arrays that have room for the result. */
function targetsOf(
  { type, countElems }: Reduction,
  contributions: readonly ReduceContribution[],
): readonly TypedArray[] | undefined {
  const targets: TypedArray[] = []
  for (const { into } of contributions) {
    if (into === undefined || into instanceof StridedView) return undefined
    if (misfit(type, countElems, into) !== undefined) return undefined
    targets.push(plainArray(into))
  }
  return targets
}
