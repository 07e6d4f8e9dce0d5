import { bytesOf } from '../../../../base/bytes.js'
import { concatenate } from '../../../../base/packing.js'
import { elementSizeBytes, elementsIn, type TypedArray, typeCode } from '../../../datatype/elements.js'
import { decodeValue } from '../../../datatype/value-encoding.js'
import type { CollectiveCall } from '../../collective-call.js'
import type { Exchange } from '../../exchange.js'
import { allSent, scatterFrom } from '../../exchange-patterns.js'
import { hashIntegers } from '../../signature.js'
import { deliver, packedDispls } from '../blocks/deliver.js'
import { byProcess, localIndexOf } from '../blocks/placement.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import { type Combiner, combinerOf } from '../reduce/combiner.js'
import { afterTree, type Leaves, prefixTree, reduceTree } from '../reduce/tree.js'
import { deliverResult, type ReduceContribution, type Reduction, signatureOf } from './reduction.js'
import { planTogether, reductionPlan } from './tree-reduction-plan.js'

type ReduceCall = CollectiveCall<ReduceContribution, unknown>

/** Reduced up the tree to the first process, then sent to the root. */
export function reduceCall(state: CollectiveContext, reduction: Reduction, root: number): ReduceCall {
  return {
    signature: signatureOf(reduction, { root }),
    unplaced: true,
    run(contributions, exchange) {
      const rootIndex = localIndexOf(state, root)
      const { type } = reduction
      const finish = (data: TypedArray | null) =>
        exchange.finish(
          contributions.map(({ into }, localIndex) =>
            localIndex === rootIndex ? deliverResult(state, reduction, data!, into) : null,
          ),
        )
      const reduceTo = (rootProcess: number) =>
        reduceToFirst(state, reduction, newCombiner(reduction), contributions, exchange, (data) => {
          if (rootProcess === 0 || (exchange.me !== 0 && rootIndex < 0)) finish(data)
          else if (exchange.me === 0) {
            exchange.send(rootProcess, afterTree, bytesOf(data!))
            finish(null)
          } else exchange.take(0, afterTree, (bytes) => finish(elementsIn(type, bytes)))
        })
      // Besides the root's own process, only the first has to know where the root is.
      if (rootIndex >= 0 || exchange.me !== 0) return reduceTo(exchange.me)
      const found = state.processOfRank(root)
      return typeof found === 'number' ? reduceTo(found) : found.then(reduceTo)
    },
  }
}

/** Reduced up the tree to the first process, then each rank's block is sent to its process. */
export function reduceScatterCall(
  state: CollectiveContext,
  reduction: Reduction,
  counts: Int32Array,
): ReduceCall {
  return {
    signature: signatureOf(reduction, { extra: hashIntegers(counts) }),
    run(contributions, exchange) {
      const elemBytes = elementSizeBytes(reduction.type)
      const finish = (mine: Uint8Array) => {
        let at = 0
        const results = contributions.map(({ into }, localIndex) => {
          const end = at + counts[state.localRanks[localIndex]!]! * elemBytes
          const block = mine.subarray(at, end)
          at = end
          return deliver(state, reduction.type, block, into)
        })
        exchange.finish(results)
      }
      return reduceToFirst(state, reduction, newCombiner(reduction), contributions, exchange, (data) => {
        if (exchange.count === 1) finish(bytesOf(data!))
        else if (data === null) exchange.take(0, afterTree, finish)
        else
          finish(scatterFrom(exchange, blocksPerProcess(state, bytesOf(data), counts, elemBytes), afterTree))
      })
    },
  }
}

/** Up and down the tree: `scan` includes a rank's own value, `exscan` does not. */
export function scanCall(state: CollectiveContext, reduction: Reduction): ReduceCall {
  return {
    signature: signatureOf(reduction),
    unplaced: true,
    async run(contributions, exchange) {
      const { name, type } = reduction
      const combiner = newCombiner(reduction)
      const leaves = leavesOf(type, contributions)
      const plan = reductionPlan(state) ?? (await planTogether(state, exchange))
      const prefixes = await prefixTree(plan, combiner, leaves, exchange)
      // All results are computed before the first is written, because `into` may be data that another rank still
      // reads.
      const results = prefixes.map((prefix, localIndex) => {
        const isFirst = state.localRanks[localIndex] === 0
        if (name === 'exscan') return isFirst ? null : combiner.toData(prefix)
        const own = leaves.values[localIndex]
        return combiner.toData(isFirst ? own : combiner.combine(prefix, false, own, false))
      })
      // What this process contributes may be the memory that `into` fills.
      await allSent(exchange)
      if (exchange.hasFailed) return undefined
      return results.map((data, localIndex) =>
        data === null ? null : deliverResult(state, reduction, data, contributions[localIndex]!.into),
      )
    },
  }
}

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
function leavesOf(type: number, contributions: readonly ReduceContribution[]): Leaves<unknown> {
  if (type !== typeCode.value) return { values: contributions.map(({ data }) => data), owned: false }
  return { values: contributions.map(({ data }) => decodeValue(data as Uint8Array)), owned: true }
}

function blocksPerProcess(
  state: CollectiveContext,
  bytes: Uint8Array,
  counts: Int32Array,
  elemBytes: number,
): Uint8Array[] {
  const displs = packedDispls(counts)
  const blocks = Array.from(counts, (count, rank) =>
    bytes.subarray(displs[rank]! * elemBytes, (displs[rank]! + count) * elemBytes),
  )
  return byProcess(state.processes, blocks).map(concatenate)
}
