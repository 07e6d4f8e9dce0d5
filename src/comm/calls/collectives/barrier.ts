import type { CollectiveCall } from '../collective-call.js'
import { barrierThen } from '../exchange-patterns.js'

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
