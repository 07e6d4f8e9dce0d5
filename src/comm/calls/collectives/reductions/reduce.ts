import { bytesOf } from '../../../../base/bytes.js'
import { RankweaveError } from '../../../../errors.js'
import { elementsIn, type TypedArray } from '../../../datatype/elements.js'
import { type CollectiveCall, failAllRanks } from '../../collective-call.js'
import { localIndexOf } from '../blocks/placement.js'
import { SharedLanding } from '../blocks/shared-landing.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import type { Method } from '../plan/method.js'
import { afterTree } from '../reduce/tree.js'
import { newCombiner, reduceToFirst } from './along-tree.js'
import { MaybePlanned, planReduction } from './planned-reduction.js'
import { deliverResult, type ReduceContribution, type Reduction, signatureOf } from './reduction.js'
import { partLengths, ReductionRun } from './reduction-run.js'

/**
 * By a plan, or reduced up the tree of processes to the first and then sent to the root.
 *
 * @throws ERR_ALGORITHM
 */
export function reduceCall(
  state: CollectiveContext,
  reduction: Reduction,
  root: number,
  method: Method | undefined,
): CollectiveCall<ReduceContribution, unknown> {
  const isChosen = method?.algorithm !== undefined
  const planned = new MaybePlanned(!isChosen || state.isPlaced, () => {
    const plan = isChosen ? planReduction(state, 'reduce', reduction, method, root) : null
    if (plan === null) return null
    return new ReductionRun(plan, reduction, partLengths(reduction.countElems, plan.parts))
  })
  return {
    signature: signatureOf(reduction, { root, ...(method === undefined ? {} : { method: method.name }) }),
    unplaced: !isChosen,
    run(contributions, exchange) {
      const rootIndex = localIndexOf(state, root)
      const { type } = reduction
      const finish = (data: TypedArray | null) =>
        exchange.finish(
          contributions.map(({ into }, localIndex) =>
            localIndex === rootIndex ? deliverResult(state, reduction, data!, into) : null,
          ),
        )
      const run = planned.get()
      if (run instanceof RankweaveError) return failAllRanks(contributions.length, run)
      if (run !== null) {
        let landing: SharedLanding | undefined
        const room = (sizeBytes: number): Uint8Array => {
          const wanted = contributions.map(({ into }, index) => (index === rootIndex ? into : null))
          landing = new SharedLanding(state, type, sizeBytes, wanted)
          return landing.bytes
        }
        run.run(contributions, exchange, room, (slots) => {
          if (landing === undefined) finish(slots)
          else exchange.whenSent(() => exchange.finish(landing!.results()))
        })
        return undefined
      }
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
