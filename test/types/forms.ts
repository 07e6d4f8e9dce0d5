// The forms of collectives follow from one list of calls. Type-checked by `npm run typecheck`, never run.
import type { CartCommunicator, Communicator, Request } from 'rankweave'
import type { CollectiveCalls } from '../../src/comm/collective-calls.js'
import type { PersistentCalls } from '../../src/comm/persistent-calls.js'
import type { NeighborCalls } from '../../src/topology-communicator/neighbor-calls.js'
import type { PersistentNeighborCalls } from '../../src/topology-communicator/neighbor-inits.js'
import { type Equal, expectType } from './support.js'

type Called = CollectiveCalls<'blocking'>
type Neighbor = NeighborCalls<'blocking'>

/** Names of calls whose form with `i` is missing, or has other overloads than these. */
type Wrong<Calls, Forms> = {
  [K in keyof Calls & string]: Equal<Forms[Extract<keyof Forms, `i${K}`>], Calls[K]> extends true ? never : K
}[keyof Calls & string]

expectType<Equal<keyof PersistentCalls, `${keyof Called & string}Init`>>(true)
expectType<Equal<keyof PersistentNeighborCalls, `${keyof Neighbor & string}Init`>>(true)
expectType<Equal<Wrong<CollectiveCalls<'started'>, Communicator>, never>>(true)
expectType<Equal<Wrong<NeighborCalls<'started'>, CartCommunicator>, never>>(true)
expectType<Equal<Pick<Communicator, keyof Called>, Called>>(true)
expectType<Equal<Pick<CartCommunicator, keyof Neighbor>, Neighbor>>(true)
expectType<Equal<Pick<Communicator, keyof PersistentCalls>, PersistentCalls>>(true)

/** What a call that is started returns is a request of what the call resolves to. */
type Results<Calls, K extends keyof Calls> = Calls[K] extends (...args: never) => infer R ? R : never
type Unlike = {
  [K in keyof Called]: Results<CollectiveCalls<'started'>, K> extends Request<infer T>
    ? Equal<Results<Called, K>, Promise<T>> extends true
      ? never
      : K
    : K
}[keyof Called]
expectType<Equal<Unlike, never>>(true)
