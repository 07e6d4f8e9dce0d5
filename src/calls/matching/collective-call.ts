import type { RankweaveError } from '../../errors.js'
import type { Exchange } from '../exchange/exchange.js'
import type { Signature } from '../signature.js'

/** A collective operation, which a process runs once, when its last hosted rank has joined. */
export interface CollectiveCall<C, R> {
  readonly signature: Signature
  /** All hosted ranks get the first result, by one promise. This keeps a barrier cheap with many ranks per process. */
  readonly shared?: true
  /**
   * The ranks get no result but their buffers filled; a `RankFailure` of one fails all hosted ranks. Only with
   * `shared`.
   */
  readonly isResultless?: true
  /** A revocation completes the call instead of failing it. Only with `shared`. */
  readonly isOverWhenRevoked?: true
  /** The call runs without the whole rank table; other calls wait until the communicator is placed. */
  readonly unplaced?: boolean
  /**
   * Throwing revokes the communicator on all processes; a `RankFailure` as a result fails that rank alone.
   *
   * @param contributions what each hosted rank passed, by local index; empty if no rank passed anything
   * @returns what each hosted rank gets, by local index; nothing, at once or by promise, if the call completes itself
   *   with `exchange.finish`
   */
  run(
    contributions: readonly C[],
    exchange: Exchange,
  ): readonly R[] | Promise<readonly R[] | undefined> | undefined
}

/** A call, whatever its ranks pass and get. */
export type AnyCall = CollectiveCall<never, unknown>

/** A result of `CollectiveCall.run` for a rank that fails alone: only the promise of that rank rejects. */
export class RankFailure {
  readonly error: RankweaveError

  constructor(error: RankweaveError) {
    this.error = error
    haveFailed = true
  }
}

/** Whether this thread has made a failure. Until then, no call looks for one among the results of many ranks. */
let haveFailed = false

/** Returns the place of the first failure among results from a place on; -1 if there is none. */
export function failureFrom(results: readonly unknown[], start: number): number {
  if (!haveFailed) return -1
  for (let i = start; i < results.length; i++) if (results[i] instanceof RankFailure) return i
  return -1
}

/**
 * Returns the results of a collective that all processes reject for the same reason. The communicator remains usable.
 */
export function failAllRanks<R>(ranks: number, error: RankweaveError): readonly R[] {
  const failures: unknown[] = new Array(ranks).fill(new RankFailure(error))
  return failures as R[]
}
