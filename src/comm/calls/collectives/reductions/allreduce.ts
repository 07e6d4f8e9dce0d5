import { bytesOf } from '../../../../base/bytes.js'
import { RankweaveError } from '../../../../errors.js'
import { elementsIn, type TypedArray, typeCode, typeCodeOf } from '../../../datatype/elements.js'
import type { Operation } from '../../../datatype/operation.js'
import { type CollectiveCall, failAllRanks } from '../../collective-call.js'
import type { Exchange } from '../../exchange.js'
import { bcastThen } from '../../exchange-patterns.js'
import type { Signature } from '../../signature.js'
import { SharedLanding } from '../blocks/shared-landing.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import { isMethod, type Method, type OrderOptions } from '../plan/method.js'
import type { Combiner } from '../reduce/combiner.js'
import { afterTree } from '../reduce/tree.js'
import { newCombiner, reduceToFirst } from './along-tree.js'
import { allreduceLong } from './long-allreduce.js'
import { isPlannedUnplaced, MaybePlanned, planReduction } from './planned-reduction.js'
import { deliverResult, doubleOf, type ReduceContribution, type Reduction, signatureOf } from './reduction.js'
import { partLengths, ReductionRun } from './reduction-run.js'

/** Most bytes of a value for which a call retains its combiner from one run to the next. */
const retainedBytes = 4096

/**
 * By a plan, or reduced up the tree of processes to the first and then broadcast. Ranks share the object, and so do
 * consecutive calls: it retains its plan, and what a reduction of few elements needs.
 */
export class AllreduceCall implements CollectiveCall<ReduceContribution, unknown> {
  readonly signature: Signature
  readonly unplaced: boolean
  readonly #state: CollectiveContext
  readonly #reduction: Reduction
  readonly #method: Method | undefined
  readonly #planned: MaybePlanned<ReductionRun>
  #combiner: Combiner<unknown> | undefined

  /** @throws ERR_ALGORITHM, if the location of every rank that it depends on is known */
  constructor(state: CollectiveContext, reduction: Reduction, method: Method | undefined) {
    this.signature = signatureOf(reduction, method && { method: method.name })
    this.unplaced = isPlannedUnplaced(reduction, method)
    this.#state = state
    this.#reduction = reduction
    this.#method = method
    this.#planned = new MaybePlanned(this.unplaced || state.isPlaced, () => this.#plan())
  }

  #plan(): ReductionRun | null {
    const { countElems } = this.#reduction
    const plan = planReduction(this.#state, 'allreduce', this.#reduction, this.#method)
    if (plan === null) return null
    return new ReductionRun(plan, this.#reduction, partLengths(countElems, plan.parts))
  }

  isMethod(options: OrderOptions | undefined): boolean {
    return isMethod(this.#method, options)
  }

  /** The elements of a rank's data if it can join with this call, else undefined, as for values and strided views. */
  elementsOf(data: unknown, op: unknown): TypedArray | undefined {
    const { op: own, type, countElems, scalar } = this.#reduction
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
  ): readonly unknown[] | Promise<undefined> | undefined {
    const planned = this.#planned.get()
    if (planned instanceof RankweaveError) return failAllRanks(contributions.length, planned)
    if (planned === null) return this.#runAlongTree(contributions, exchange)
    const { type } = this.#reduction
    let landing: SharedLanding | undefined
    const room = (sizeBytes: number): Uint8Array => {
      const wanted = contributions.map(({ into }) => into)
      landing = new SharedLanding(this.#state, type, sizeBytes, wanted)
      return landing.bytes
    }
    planned.run(contributions, exchange, room, (slots) => {
      if (landing === undefined) this.#finish(contributions, exchange, slots)
      // What is sent may be the memory that another rank's result is copied to.
      else exchange.whenSent(() => exchange.finish(landing!.results()))
    })
    return undefined
  }

  #finish(contributions: readonly ReduceContribution[], exchange: Exchange, data: TypedArray): void {
    const results: unknown[] = new Array(contributions.length)
    for (let i = 0; i < contributions.length; i++)
      results[i] = deliverResult(this.#state, this.#reduction, data, contributions[i]!.into)
    exchange.finish(results)
  }

  #runAlongTree(
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
  ): Promise<undefined> | undefined {
    const state = this.#state
    const reduction = this.#reduction
    const { type } = reduction
    if (allreduceLong(state, reduction, contributions, exchange)) return undefined
    return reduceToFirst(state, reduction, this.#retainedCombiner(), contributions, exchange, (data) => {
      if (exchange.count === 1) {
        this.#finish(contributions, exchange, data!)
        return
      }
      const bytes = data === null ? null : bytesOf(data)
      bcastThen(exchange, 0, bytes, afterTree, (all) => {
        this.#finish(contributions, exchange, data ?? elementsIn(type, all))
      })
    })
  }

  /** A combiner reuses its arrays, so that of a small reduction is retained. */
  #retainedCombiner(): Combiner<unknown> {
    const combiner = this.#combiner ?? newCombiner(this.#reduction)
    if (combiner.sizeBytes !== null && combiner.sizeBytes <= retainedBytes) this.#combiner = combiner
    return combiner
  }
}
