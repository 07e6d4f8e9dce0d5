import type { RankweaveError } from '../../errors.js'
import type { Exchange } from './exchange.js'
import type { Signature } from './signature.js'

/** One collective operation as the process runs it, once, when its last hosted rank has arrived. */
export interface CollectiveCall<C, R> {
  readonly signature: Signature
  /** All hosted ranks get the first result, by one promise: what `barrier` needs for very many ranks. */
  readonly shared?: true
  /** Runs without knowing where every rank lives; the others wait until the communicator is placed. */
  readonly unplaced?: true
  /**
   * Throwing revokes the communicator on all processes; a `Refusal` as a result fails that rank alone.
   *
   * @param contributions what each hosted rank passed, by local index; empty if nobody passed anything
   * @returns what each hosted rank gets, by local index; nothing, now or later, if the call ends itself by
   *   `exchange.finish`
   */
  run(
    contributions: readonly C[],
    exchange: Exchange,
  ): readonly R[] | Promise<readonly R[] | undefined> | undefined
}

/** Whatever its ranks pass and get. */
export type AnyCall = CollectiveCall<never, unknown>

/** What `CollectiveCall.run` returns for a rank whose part failed on its own: only that rank rejects. */
export class RankFailure {
  readonly error: RankweaveError

  constructor(error: RankweaveError) {
    this.error = error
  }
}
