import { bytesOf } from '../../base/bytes.js'
import type { Exchange } from '../../calls/exchange.js'

/**
 * The largest of the numbers of all processes, on each. None returns before all have called. In stage i a
 * process sends to the one 2^i ahead: lg `count` messages of 8 bytes per process, and every process hears
 * from the one before it, so a process that takes part in something else is noticed. Takes a step per stage,
 * up to 31.
 *
 * @see Hensgen, Finkel, Manber 1988 (dissemination)
 */
export async function largestOfAll(exchange: Exchange, own: number, step: number): Promise<number> {
  const { me, count } = exchange
  let largest = own
  for (let stage = 0, distance = 1; distance < count; stage++, distance *= 2) {
    exchange.send((me + distance) % count, step + stage, bytesOf(Float64Array.of(largest)))
    const arrived = await exchange.receive((me - distance + count) % count, step + stage)
    largest = Math.max(largest, new Float64Array(arrived.buffer, arrived.byteOffset, 1)[0])
  }
  return largest
}
