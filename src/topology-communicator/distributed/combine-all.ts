import { bytesOf } from '../../base/bytes.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { bcastBytes } from '../../calls/exchange/exchange-patterns.js'

/**
 * Combines what all processes contribute, on every process: along a binomial tree to process 0 and back. Takes steps
 * `step` and `step + 1`.
 *
 * @param combine adds the second to the first, or returns another array; associative and commutative
 */
export async function combineAll(
  exchange: Exchange,
  own: Float64Array,
  combine: (into: Float64Array, from: Float64Array) => Float64Array,
  step: number,
): Promise<Float64Array> {
  const { me, count } = exchange
  let held = own
  let bit = 1
  for (; bit < count && (me & bit) === 0; bit *= 2) {
    if (me + bit < count) held = combine(held, doublesOf(await exchange.receive(me + bit, step)))
  }
  if (me !== 0) exchange.send(me - bit, step, bytesOf(held))
  return doublesOf(await bcastBytes(exchange, 0, bytesOf(held), step + 1))
}

function doublesOf({ buffer, byteOffset, byteLength }: Uint8Array): Float64Array {
  return new Float64Array(buffer, byteOffset, byteLength / 8)
}
