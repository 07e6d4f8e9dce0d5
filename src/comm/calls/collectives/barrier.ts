import type { CollectiveCall } from '../collective-call.js'
import { noBytes } from '../exchange.js'
import { barrierThen } from '../exchange-patterns.js'
import type { ProgramStore } from '../program/program-store.js'
import type { CollectiveContext } from './plan/collective-context.js'
import type { CollectivePlan } from './plan/collective-plan.js'
import type { Method } from './plan/method.js'
import { chooseMove, planMove, requireServed } from './plan/planned-move.js'

const noResults = [] as const

/** One object for all calls and one promise for all ranks of a process: a barrier retains nothing per rank. */
const barrierCall: CollectiveCall<undefined, void> = {
  signature: { name: 'barrier' },
  shared: true,
  unplaced: true,
  run(_, exchange) {
    if (exchange.count === 1) return noResults
    barrierThen(exchange, () => exchange.finish(noResults))
    return undefined
  },
}

/** A barrier's frames are empty, and so is what is combined. */
const nothing: ProgramStore = {
  pack: () => noBytes,
  landing: () => undefined,
  unpack() {},
  combine() {},
}

/**
 * The barrier of a communicator: made once, unless its ranks have chosen a method.
 *
 * @throws ERR_ALGORITHM when it does not take this number of processes
 */
export function barrierOf(
  state: CollectiveContext,
  method: Method | undefined,
): CollectiveCall<undefined, void> {
  if (method !== undefined) return plannedBarrier(state, method)
  state.plans.barrier ??= plannedBarrier(state, undefined)
  return state.plans.barrier
}

function plannedBarrier(
  state: CollectiveContext,
  method: Method | undefined,
): CollectiveCall<undefined, void> {
  const chosen = chooseMove(state, 'barrier', method, 0)
  const signature =
    method === undefined ? barrierCall.signature : { name: 'barrier' as const, method: method.name }
  if (chosen === null) return method === undefined ? barrierCall : { ...barrierCall, signature }
  requireServed(state, chosen.algorithm, chosen.segments)
  let plan: CollectivePlan | undefined
  return {
    signature,
    shared: true,
    unplaced: true,
    run(_, exchange) {
      if (exchange.count === 1) return noResults
      plan ??= planMove(state, chosen)
      plan.run(exchange, nothing, () => exchange.finish(noResults))
      return undefined
    },
  }
}
