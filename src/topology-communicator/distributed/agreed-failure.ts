import type { Exchange } from '../../calls/exchange.js'
import { allgatherBytes } from '../../calls/exchange-patterns.js'
import { RankweaveError } from '../../errors.js'
import { decodeError, encodeError } from '../../messages/process/error-record.js'

const nothing = new Uint8Array(0)
const maxErrorBytes = 4_096

/**
 * The failure of the first process that has one, the same on all. Called by all when it is known that some
 * process has.
 *
 * @param step an allgather takes up to 32
 */
export async function firstFailure(
  exchange: Exchange,
  own: RankweaveError | null,
  step: number,
): Promise<Error> {
  const encoded = own === null ? nothing : encodeError(own, maxErrorBytes)
  const failures = await allgatherBytes(exchange, encoded, step)
  const first = failures.find(({ byteLength }) => byteLength > 0)
  if (first !== undefined) return decodeError(first)
  return new RankweaveError('ERR_PLAN_MISMATCH', 'planning: a process failed and did not report why')
}
