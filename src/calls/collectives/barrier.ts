import { whenThere } from '../../base/turn.js'
import type { CollectiveContext } from '../plan/collective-plan.js'
import type { Method } from '../plan/method.js'
import { planOf, requireMethod } from '../plan/resolve.js'
import { type BoundProgram, type PlannedCall, runOnce } from '../program/planned-call.js'
import { emptyStore } from '../program/run-program.js'

const noResults = [] as const

/**
 * Returns the barrier of a communicator, which is made once unless its ranks have chosen a method.
 *
 * @throws ERR_ALGORITHM when it does not take this number of processes
 */
export function barrierOf(state: CollectiveContext, method: Method | undefined): PlannedCall<undefined> {
  if (method !== undefined) return newBarrier(state, method)
  state.plans.barrier ??= newBarrier(state, undefined)
  return state.plans.barrier
}

/** Makes one object for all calls, with one promise for all ranks of a process: a barrier retains nothing per rank. */
function newBarrier(state: CollectiveContext, method: Method | undefined): PlannedCall<undefined> {
  requireMethod(state, method, { isSized: true })
  let bound: BoundProgram | undefined
  const bind = (): BoundProgram | Promise<BoundProgram> => {
    if (bound !== undefined) return bound
    return whenThere(planOf(state, { collective: 'barrier', method, sizeBytes: 0 }), (plan) => {
      bound = { plan, store: emptyStore, fill() {}, deliver: () => noResults }
      return bound
    })
  }
  return {
    signature: { name: 'barrier', ...(method === undefined ? {} : { method: method.name }) },
    shared: true,
    // A process must know where all ranks are before the machine can choose.
    unplaced: method?.isAuto !== true,
    run(_, exchange) {
      if (exchange.count === 1) return noResults
      return whenThere(bind(), (found) => runOnce(found, exchange))
    },
    bind,
  }
}
