import type { CollectiveCall } from '../collective-engine.js'
import { barrierOf } from '../exchange-patterns.js'

/** One object for all calls and one promise for all ranks of a process: a barrier keeps nothing per rank. */
export const barrierCall: CollectiveCall<undefined, void> = {
  signature: { name: 'barrier' },
  shared: true,
  run: (_, exchange) => (exchange.count === 1 ? [] : barrierOf(exchange).then(() => [])),
}
