import { isRankweaveError } from '../../errors.js'
import { type TypedArray, typeCode, typeCodeOf } from '../../messages/datatype/elements.js'
import type { Operation } from '../../messages/datatype/operation.js'
import type { Collective } from '../../schedule/specification.js'
import { type CollectiveCall, failAllRanks } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import type { CollectivePlan } from '../plan/collective-plan.js'
import { isMethod, type Method, type OrderOptions } from '../plan/method.js'
import { isUnplaced, requiredOrder } from '../plan/required-order.js'
import type { Signature } from '../signature.js'
import { planReduction } from './planned-reduction.js'
import { doubleOf, type ReduceContribution, type Reduction, signatureOf } from './reduction.js'

/**
 * A reduction by a plan. Ranks share the object, and so do consecutive calls: it retains its plan, and what a
 * reduction of few elements needs.
 *
 * `P` is what runs the plan.
 */
export abstract class ReductionCall<P> implements CollectiveCall<ReduceContribution, unknown> {
  readonly signature: Signature
  readonly unplaced: boolean
  protected readonly state: CollectiveContext
  protected readonly reduction: Reduction
  protected readonly method: Method | undefined
  readonly #collective: Collective
  readonly #chosen: Method | undefined
  readonly #root: number
  #planned: P | undefined

  /**
   * @param collective what is planned
   * @param more what ranks compare besides the reduction
   * @param chosen the method of the plan, if it differs from the one that the ranks pass
   */
  constructor(
    state: CollectiveContext,
    collective: Collective,
    reduction: Reduction,
    method: Method | undefined,
    more: { readonly root?: number; readonly extra?: number } = {},
    chosen = method,
  ) {
    this.signature = signatureOf(reduction, method === undefined ? more : { ...more, method: method.name })
    this.state = state
    this.reduction = reduction
    this.method = method
    this.#collective = collective
    this.#chosen = chosen
    this.#root = more.root ?? 0
    const named = chosen?.algorithm
    this.unplaced =
      collective !== 'reduce-scatter' &&
      (named === undefined || isUnplaced(named, requiredOrder(reduction, chosen!.isAnyOrder)))
  }

  /**
   * Makes the plan of a call whose ranks have chosen the algorithm, as far as that takes no look-up.
   *
   * @throws ERR_ALGORITHM when it cannot serve
   */
  check(): this {
    if (this.method?.algorithm === undefined || !this.state.isPlaced) return this
    const planned = this.#plan()
    if (!(planned instanceof Promise)) this.#planned = planned
    return this
  }

  isMethod(options: OrderOptions | undefined): boolean {
    return isMethod(this.method, options)
  }

  /**
   * The elements of a rank's data if it can join with this call, else undefined, as for values and strided
   * views.
   */
  elementsOf(data: unknown, op: unknown): TypedArray | undefined {
    const { op: own, type, countElems, scalar } = this.reduction
    const { name, combine } = Object(op) as Partial<Operation>
    const isSame = own.kind === 'kernel' ? own.name === op : own.combine === combine && own.name === name
    if (!isSame || type === typeCode.value) return undefined
    if (scalar !== null) return typeof data === 'number' ? doubleOf(data) : undefined
    const fits = typeCodeOf(data) === type && (data as TypedArray).length === countElems
    return fits ? (data as TypedArray) : undefined
  }

  run(
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
  ): readonly unknown[] | Promise<readonly unknown[] | undefined> | undefined {
    // What explores chooses anew for every call.
    if (this.#planned !== undefined && this.state.online === undefined) {
      this.runBy(this.#planned, contributions, exchange)
      return undefined
    }
    const failed = (error: unknown): readonly unknown[] => {
      if (isRankweaveError(error) && error.code === 'ERR_ALGORITHM')
        return failAllRanks(contributions.length, error)
      throw error
    }
    const go = (planned: P): undefined => {
      this.#planned = planned
      this.runBy(planned, contributions, exchange)
    }
    try {
      const planned = this.#plan()
      return planned instanceof Promise ? planned.then(go, failed) : go(planned)
    } catch (error) {
      return failed(error)
    }
  }

  /** Runs it once and completes the collective. */
  protected abstract runBy(planned: P, contributions: readonly ReduceContribution[], exchange: Exchange): void

  /** What runs a plan. @param plan null where neither the rule's algorithm nor the tree serves */
  protected abstract prepare(plan: CollectivePlan | null): P | Promise<P>

  protected plan(collective: Collective, method: Method | undefined, root = 0) {
    return planReduction(this.state, collective, this.reduction, method, root)
  }

  #plan(): P | Promise<P> {
    const plan = this.plan(this.#collective, this.#chosen, this.#root)
    return plan instanceof Promise ? plan.then((found) => this.prepare(found)) : this.prepare(plan)
  }
}
