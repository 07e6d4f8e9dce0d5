import type { CombinationOrder } from '../../collective/patterns/algorithm.js'
import { isRankweaveError } from '../../errors.js'
import { elementSizeBytes, type TypedArray, typeCode, typeCodeOf } from '../../messages/datatype/elements.js'
import type { Operation } from '../../messages/datatype/operation.js'
import type { Collective } from '../../schedule/specification.js'
import { leftToDefault } from '../../tuning/online/grid-selection.js'
import { onlineCollectives } from '../../tuning/online/online-process.js'
import { type CollectiveCall, failAllRanks } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import type { CollectivePlan } from '../plan/collective-plan.js'
import type { MachineCall } from '../plan/machine-choices.js'
import { isMethod, type Method, type OrderOptions } from '../plan/method.js'
import type { CallChoices, OnlineCalls } from '../plan/online-calls.js'
import { isUnplaced, requiredOrder } from '../plan/required-order.js'
import type { Signature } from '../signature.js'
import { readyMethod } from './machine-call.js'
import { type DrawnSetting, planReduction } from './planned-reduction.js'
import { doubleOf, type ReduceContribution, type Reduction, signatureOf } from './reduction.js'

/** The most settings of online tuning for which a call retains plans, and the most bytes of data of such a call. */
const mostDrawn = 32
const mostDrawnBytes = 2 ** 16

interface DrawnPlan<P> {
  readonly planned: P
  /** True if the setting cannot serve, so that the rule has decided. */
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
  #planned: P | undefined
  /** The online tuning that chooses for each call, and the settings it chooses among. */
  #online: OnlineCalls | undefined
  #choices: CallChoices | undefined
  /** The plans by the number of the setting that online tuning has chosen. */
  readonly #drawnPlans: (DrawnPlan<P> | undefined)[] = []
  #drawnCount = 0
  /** The runners of these plans; settings that cut the data alike share one. */
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
   * Makes the plan of a call whose ranks have chosen the algorithm, if no look-up is needed.
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
    let number = leftToDefault
    let planned = this.#planned
    if (exchange.isWatched === true && this.#isDrawn) {
      number = this.#numberFor(exchange)
      if (number !== leftToDefault) planned = this.#drawnPlan(number, exchange)
    }
    // A single place runs the plan, so that it runs as fast as without online tuning.
    if (planned === undefined) return this.#runFirst(number, contributions, exchange)
    this.runBy(planned, contributions, exchange)
    return undefined
  }

  #numberFor(exchange: Exchange): number {
    if (this.#choices === undefined) {
      this.#online = this.state.online!
      this.#choices = this.#online.choicesOf(this.#collective, this.#bytes, this.#order)
    }
    return this.#online!.numberFor(exchange, this.#choices)
  }

  #drawnPlan(number: number, exchange: Exchange): P | undefined {
    const known = this.#drawnPlans[number]
    if (known === undefined) return undefined
    if (known.isRefused) this.#online!.refusedLate(exchange)
    return known.planned
  }

  #runFirst(number: number, contributions: readonly ReduceContribution[], exchange: Exchange) {
    if (number !== leftToDefault) return this.#runDrawn(this.#online!, number, contributions, exchange)
    return this.#planAndRun(contributions, exchange, (planned) => {
      this.#planned = planned
    })
  }

  #runDrawn(
    online: OnlineCalls,
    number: number,
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
  ) {
    let isRefused = false
    const { leaf } = online.choiceOfNumber(this.#collective, number)
    const refused = () => {
      isRefused = true
      online.refusedLate(exchange)
    }
    const retain = (planned: P) => this.#retain(number, { planned, isRefused })
    return this.#planAndRun(contributions, exchange, retain, { leaf, refused })
  }

  #retain(number: number, drawn: DrawnPlan<P>): void {
    if (!this.#isRetained || this.#drawnCount === mostDrawn) return
    this.#drawnPlans[number] = drawn
    this.#drawnCount++
  }

  #planAndRun(
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
    retain: (planned: P) => void,
    drawn?: DrawnSetting,
  ): readonly unknown[] | Promise<readonly unknown[] | undefined> | undefined {
    const failed = (error: unknown): readonly unknown[] => {
      if (isRankweaveError(error) && error.code === 'ERR_ALGORITHM')
        return failAllRanks(contributions.length, error)
      throw error
    }
    const go = (planned: P): undefined => {
      retain(planned)
      this.runBy(planned, contributions, exchange)
    }
    try {
      const planned = this.#plan(drawn)
      return planned instanceof Promise ? planned.then(go, failed) : go(planned)
    } catch (error) {
      return failed(error)
    }
  }

  /** Runs the plan once and completes the collective. */
  protected abstract runBy(planned: P, contributions: readonly ReduceContribution[], exchange: Exchange): void

  /**
   * Returns what runs a plan.
   *
   * @param plan null if neither the rule's algorithm nor the tree serves
   */
  protected abstract prepare(plan: CollectivePlan | null): P | Promise<P>

  protected plan(collective: Collective, method: Method | undefined, root = 0, drawn?: DrawnSetting) {
    const { state, reduction } = this
    const ready = readyMethod(state, method, this.#machineCall(collective))
    if (!(ready instanceof Promise)) return planReduction(state, collective, reduction, ready, root, drawn)
    return ready.then((found) => planReduction(state, collective, reduction, found, root, drawn))
  }

  #machineCall(collective: Collective): MachineCall {
    const { state, reduction } = this
    const isScan = collective === 'scan' || collective === 'exscan'
    const order = this.#order
    const kind = order === 'tree' ? 'pieces' : order === 'any' && !isScan ? 'processes' : 'runs'
    const isByRank = collective === 'reduce-scatter'
    const sizeBytes = isByRank ? Math.ceil(this.#bytes / state.size) : this.#bytes
    return { collective, sizeBytes, kind, order, canCut: reduction.op.kind !== 'function' }
  }

  #plan(drawn?: DrawnSetting): P | Promise<P> {
    const plan = this.plan(this.#collective, this.#chosen, this.#root, drawn)
    const prepare = (found: CollectivePlan | null) =>
      drawn === undefined || found === null ? this.prepare(found) : this.#prepareDrawn(found)
    return plan instanceof Promise ? plan.then(prepare) : prepare(plan)
  }

  #prepareDrawn(plan: CollectivePlan): P | Promise<P> {
    const known = this.#drawnRuns?.get(plan)
    if (known !== undefined) return known
    const prepared = this.prepare(plan)
    if (!this.#isRetained || prepared instanceof Promise) return prepared
    this.#drawnRuns ??= new Map()
    if (this.#drawnRuns.size < mostDrawn) this.#drawnRuns.set(plan, prepared)
    return prepared
  }

  /** Whether later calls reuse what runs the drawn settings. */
  get #isRetained(): boolean {
    return this.#bytes <= mostDrawnBytes
  }
}
