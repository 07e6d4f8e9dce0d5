import type { CollectiveCall } from '../collective-call.js'
import { noBytes } from '../exchange.js'
import { barrierThen } from '../exchange-patterns.js'
import type { ProgramStore } from '../program/program-store.js'
import type { CollectiveContext } from './plan/collective-context.js'
import type { Method } from './plan/method.js'
import { chooseMove, planMove, requireServed } from './plan/planned-move.js'

const noResults = [] as const

/** One object for all calls and one promise for all ranks of a process: a barrier retains nothing per rank. */
export const barrierCall: CollectiveCall<undefined, void> = {
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
 * A barrier by the algorithm that its ranks have chosen.
 *
 * @throws ERR_ALGORITHM when it does not take this number of processes
 */
export function plannedBarrier(state: CollectiveContext, method: Method): CollectiveCall<undefined, void> {
  const chosen = chooseMove(state, 'barrier', method, 0)
  if (chosen === null) return { ...barrierCall, signature: { name: 'barrier', method: method.name } }
  requireServed(state, chosen.algorithm, chosen.segments)
  return {
    signature: { name: 'barrier', method: method.name },
    shared: true,
    unplaced: true,
    run(_, exchange) {
      if (exchange.count === 1) return noResults
      planMove(state, chosen).run(exchange, nothing, () => exchange.finish(noResults))
      return undefined
    },
  }
}
