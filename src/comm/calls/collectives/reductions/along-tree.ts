import { type TypedArray, typeCode } from '../../../datatype/elements.js'
import { decodeValue } from '../../../datatype/value-encoding.js'
import type { Exchange } from '../../exchange.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import { type Combiner, combinerOf } from '../reduce/combiner.js'
import { type Leaves, reduceTree } from '../reduce/tree.js'
import type { ReduceContribution, Reduction } from './reduction.js'
import { planTogether, reductionPlan } from './tree-reduction-plan.js'

// Reductions along the tree of processes: of values, of any data where the locations of ranks are not known.

/** Reduces up the tree: `done` gets the total on the first process, null on the others. */
export function reduceToFirst(
  state: CollectiveContext,
  reduction: Reduction,
  combiner: Combiner<unknown>,
  contributions: readonly ReduceContribution[],
  exchange: Exchange,
  done: (data: TypedArray | null) => void,
): Promise<undefined> | undefined {
  const plan = reductionPlan(state)
  if (plan === undefined) {
    return planTogether(state, exchange).then(() =>
      reduceToFirst(state, reduction, combiner, contributions, exchange, done),
    )
  }
  reduceTree(plan, combiner, leavesOf(reduction.type, contributions), exchange, (operand) =>
    done(operand === undefined ? null : combiner.toData(operand.value)),
  )
  return undefined
}

export function newCombiner({ op, type, countElems }: Reduction): Combiner<unknown> {
  return combinerOf(op, type, countElems)
}

/** Values are decoded here, so operations may modify them; elements remain the ranks' own. */
export function leavesOf(type: number, contributions: readonly ReduceContribution[]): Leaves<unknown> {
  if (type !== typeCode.value) return { values: contributions.map(({ data }) => data), owned: false }
  return { values: contributions.map(({ data }) => decodeValue(data as Uint8Array)), owned: true }
}
