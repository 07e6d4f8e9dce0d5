import { whenThere } from '../../base/turn.js'
import type { CombinationOrder } from '../../collective/patterns/algorithm.js'
import { isRankweaveError } from '../../errors.js'
import { elementSizeBytes, type TypedArray, typeCode, typeCodeOf } from '../../messages/datatype/elements.js'
import type { Operation } from '../../messages/datatype/operation.js'
import type { Collective } from '../../schedule/specification.js'
import { leftToDefault } from '../../tuning/online/grid-selection.js'
import { onlineCollectives } from '../../tuning/online/online-process.js'
import type { Exchange } from '../exchange/exchange.js'
import { type CollectiveCall, failAllRanks } from '../matching/collective-call.js'
import type { CollectiveContext, CollectivePlan, Resolution, Unplanned } from '../plan/collective-plan.js'
import { isUnplaced } from '../plan/participants.js'
import {
  isMethod,
  isRefusal,
  type Method,
  type OrderOptions,
  requiredOrder,
  resolve,
} from '../plan/resolve.js'
import type { Signature } from '../signature.js'
import {
  doubleOf,
  type ReduceContribution,
  type Reduction,
  type ReductionName,
  signatureOf,
} from './reduction.js'

/** The most settings of online tuning for which a call retains plans, and the most bytes of data of such a call. */
const mostDrawn = 32
const mostDrawnBytes = 2 ** 16

interface Prepared<P> {
  readonly run: P
  /** True if the setting that online tuning has drawn cannot serve, so that the rule has decided. */
  readonly isRefused: boolean
}

/**
 * A reduction that runs a plan. Ranks share the object, and so do consecutive calls. It retains its plan, and the
 * memory that a reduction of few elements needs.
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
  /** The runners of the call, by the number of the setting that online tuning has drawn. */
  readonly #prepared: (Prepared<P> | undefined)[] = []
  #drawnCount = 0
  /** The runners of drawn settings by plan; settings that cut the data alike share one. */
  #drawnRuns: Map<CollectivePlan, P> | undefined
  readonly #bytes: number
  readonly #order: CombinationOrder
  readonly #isDrawn: boolean

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
    const isAuto = chosen?.isAuto === true
    this.#bytes = reduction.countElems * elementSizeBytes(reduction.type)
    this.#order = requiredOrder(reduction, chosen?.isAnyOrder === true)
    this.#isDrawn = named === undefined && !isAuto && onlineCollectives.includes(collective)
    const isAnywhere = named === undefined ? !isAuto : isUnplaced(named, this.#order)
    this.unplaced = collective !== 'reduce-scatter' && isAnywhere
  }

  /**
   * Makes the plan of a call whose ranks have chosen the algorithm or the segments, if no look-up is needed.
   *
   * @throws ERR_ALGORITHM when it cannot serve
   */
  check(): this {
    const { algorithm, segments } = this.method ?? {}
    const isChosen = algorithm !== undefined || segments !== undefined
    if (isChosen && this.state.isPlaced) this.#prepare(leftToDefault)
    return this
  }

  isMethod(options: OrderOptions | undefined): boolean {
    return isMethod(this.method, options)
  }

  /** Tells whether a rank that passes these arguments makes the same call, as far as its data and operation allow. */
  isRepeatedBy(name: ReductionName, root: number | undefined, options: OrderOptions | undefined): boolean {
    return name === this.signature.name && root === this.signature.root && this.isMethod(options)
  }

  /**
   * Returns the elements of a rank's data if it can join with this call; otherwise undefined, as for values and strided
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
    const { state } = this
    const isDrawn = exchange.isWatched === true && this.#isDrawn
    const drawn = isDrawn
      ? state.online!.draw(exchange, this.#collective, this.#bytes, this.#order)
      : leftToDefault
    const prepared = this.#prepared[drawn]
    // A single place runs the plan, so that it runs as fast as without online tuning.
    if (prepared === undefined) return this.#runFirst(drawn, contributions, exchange)
    if (prepared.isRefused) state.online!.refused(exchange)
    this.runBy(prepared.run, contributions, exchange)
    return undefined
  }

  #runFirst(
    drawn: number,
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
  ): readonly unknown[] | Promise<readonly unknown[] | undefined> | undefined {
    const failed = (error: unknown): readonly unknown[] => {
      if (isRankweaveError(error) && error.code === 'ERR_ALGORITHM')
        return failAllRanks(contributions.length, error)
      throw error
    }
    const go = ({ run, isRefused }: Prepared<P>): undefined => {
      if (isRefused) this.state.online!.refused(exchange)
      this.runBy(run, contributions, exchange)
    }
    try {
      const prepared = this.#prepare(drawn)
      return prepared instanceof Promise ? prepared.then(go, failed) : go(prepared)
    } catch (error) {
      return failed(error)
    }
  }

  /** Plans the call with a setting, and retains what runs it. */
  #prepare(drawn: number): Prepared<P> | Promise<Prepared<P>> {
    return whenThere(this.#resolved(this.#collective, this.#chosen, drawn), (resolution) => {
      const isRefused = drawn !== leftToDefault && isRefusal(resolution)
      return whenThere(this.#planOf(resolution, this.#root), (plan) =>
        whenThere(
          drawn === leftToDefault || plan === null ? this.prepare(plan) : this.#drawnRun(plan),
          (run) => this.#retained(drawn, { run, isRefused }),
        ),
      )
    })
  }

  #retained(drawn: number, prepared: Prepared<P>): Prepared<P> {
    if (drawn === leftToDefault) this.#prepared[drawn] = prepared
    else if (this.#retainsDrawn && this.#drawnCount < mostDrawn) {
      this.#prepared[drawn] = prepared
      this.#drawnCount++
    }
    return prepared
  }

  /** Runs the plan once and completes the collective. */
  protected abstract runBy(planned: P, contributions: readonly ReduceContribution[], exchange: Exchange): void

  /**
   * Returns what runs a plan.
   *
   * @param plan null if neither the rule's algorithm nor the tree serves
   */
  protected abstract prepare(plan: CollectivePlan | null): P | Promise<P>

  /** Returns the plan of a reduction of the same data by another collective, to rank 0. */
  protected plan(collective: Collective, method: Method | undefined) {
    const resolved = this.#resolved(collective, method, leftToDefault)
    return whenThere(resolved, (resolution) => this.#planOf(resolution, 0))
  }

  #resolved(collective: Collective, method: Method | undefined, drawn: number) {
    const { op } = this.reduction
    const reduction = { op, order: this.#order }
    return resolve(this.state, { collective, method, sizeBytes: this.#bytes, reduction }, drawn)
  }

  #planOf(resolution: Resolution | Unplanned, root: number): CollectivePlan | null | Promise<CollectivePlan> {
    if (resolution.algorithm === null) return null
    return this.state.plans.reductionPlan(resolution, this.#order, root)
  }

  #drawnRun(plan: CollectivePlan): P | Promise<P> {
    const known = this.#drawnRuns?.get(plan)
    if (known !== undefined) return known
    const run = this.prepare(plan)
    if (!this.#retainsDrawn || run instanceof Promise) return run
    this.#drawnRuns ??= new Map()
    if (this.#drawnRuns.size < mostDrawn) this.#drawnRuns.set(plan, run)
    return run
  }

  /** Whether later calls reuse what runs the drawn settings. */
  get #retainsDrawn(): boolean {
    return this.#bytes <= mostDrawnBytes
  }
}
