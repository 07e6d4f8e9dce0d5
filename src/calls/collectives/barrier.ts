import type { CollectiveContext } from '../plan/collective-context.js'
import type { CollectivePlan } from '../plan/collective-plan.js'
import type { Method } from '../plan/method.js'
import { chooseMove, planMove, requireServed } from '../plan/planned-move.js'
import type { BindableCall } from '../program/bound-collective.js'
import { emptyStore } from '../program/run-program.js'

const noResults = [] as const

/**
 * Returns the barrier of a communicator, which is made once unless its ranks have chosen a method.
 *
 * @throws ERR_ALGORITHM when it does not take this number of processes
 */
export function barrierOf(state: CollectiveContext, method: Method | undefined): BindableCall<undefined> {
  if (method !== undefined) return newBarrier(state, method)
  state.plans.barrier ??= newBarrier(state, undefined)
  return state.plans.barrier
}

/** Makes one object for all calls, with one promise for all ranks of a process: a barrier retains nothing per rank. */
function newBarrier(state: CollectiveContext, method: Method | undefined): BindableCall<undefined> {
  const chosen = chooseMove(state, 'barrier', method, 0)!
  requireServed(state, chosen.algorithm, chosen.segments)
  let plan: CollectivePlan | undefined
  return {
    signature: { name: 'barrier', ...(method === undefined ? {} : { method: method.name }) },
    shared: true,
    unplaced: true,
    run(_, exchange) {
      if (exchange.count === 1) return noResults
      plan ??= planMove(state, chosen)
      plan.run(exchange, emptyStore, () => exchange.finish(noResults))
      return undefined
    },
    bind: () => ({ program: planMove(state, chosen).program, store: emptyStore, fill() {}, deliver() {} }),
  }
}
