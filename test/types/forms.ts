// Every collective has its forms. Type-checked by `npm run typecheck`, never run.
import type { CartCommunicator, Communicator, Request } from 'rankweave'
import { type Equal, expectType } from './support.js'

/** The names of the methods that have a persistent form, and of those that have a started one. */
type Bound<C> = { [K in keyof C & string]: K extends `${infer Name}Init` ? Name : never }[keyof C & string]
type Started<C> = { [K in keyof C & string]: K extends `i${infer Name}` ? Name & keyof C : never }[keyof C &
  string]
/** Messages have a started form and no persistent one. */
type Messages = 'send' | 'ssend' | 'recv' | 'probe' | 'mprobe'

type Result<C, K> = K extends keyof C ? (C[K] extends (...args: never) => infer R ? R : never) : never
type Parameter<C, K> = K extends keyof C ? (C[K] extends (...args: infer A) => unknown ? A : never) : never

/** Names of calls whose form with `i` takes other arguments, or returns no request of what the call resolves to. */
type Unlike<C> = {
  [K in Bound<C>]: Result<C, `i${K}`> extends Request<infer T>
    ? Same<[Result<C, K>, Parameter<C, K>], [Promise<T>, Parameter<C, `i${K}`>]> extends true
      ? never
      : K
    : K
}[Bound<C>]
type Same<A, B> = A extends B ? (B extends A ? true : false) : false

expectType<Equal<Exclude<Started<Communicator>, Messages>, Bound<Communicator>>>(true)
expectType<Equal<Exclude<Started<CartCommunicator>, Messages>, Bound<CartCommunicator>>>(true)
expectType<Equal<Unlike<Communicator>, never>>(true)
expectType<Equal<Unlike<CartCommunicator>, never>>(true)
