import type { Lines } from './lines.js'
import type { Ways } from './ways.js'

/**
 * Messages on links. A link serves one message at a time, in the order in which their first bytes come to it; a message of
 * m bytes for `m * nsPerByte`. The first byte goes on to the next link `latencyNs` after the link began with it, while the
 * others follow (cut-through).
 */
export class Links {
  readonly #ways: Ways
  readonly #bytes: Float64Array
  readonly #lines: Lines
  /** When each link has served what has come to it. */
  readonly #free: Float64Array
  /** When the last byte of a message is at the end of the link that it is on. */
  readonly #tail: Float64Array
  /** Links that a message has taken. */
  readonly #taken: Int32Array

  constructor(ways: Ways, bytes: Float64Array, lines: Lines) {
    this.#ways = ways
    this.#bytes = bytes
    this.#lines = lines
    this.#free = new Float64Array(ways.network.latencyNs.length)
    this.#tail = new Float64Array(bytes.length)
    this.#taken = new Int32Array(bytes.length)
  }

  /** All bytes of a frame are ready for the first link of its route. */
  enter(frame: number, now: number): void {
    this.#tail[frame] = now
    this.goOn(frame, now)
  }

  /** Whether a frame has taken all links of its route. */
  hasArrived(frame: number): boolean {
    return this.#taken[frame] === this.#ways.length[frame]
  }

  /** The first byte of a frame comes to the next link of its route. */
  goOn(frame: number, now: number): void {
    const { link, start, length, network } = this.#ways
    const { latencyNs, nsPerByte } = network
    const taken = this.#taken[frame]++
    const on = link[start[frame] + taken]
    const begun = Math.max(now, this.#free[on])
    const served = begun + this.#bytes[frame] * nsPerByte[on]
    this.#free[on] = served
    const tail = Math.max(served, this.#tail[frame]) + latencyNs[on]
    this.#tail[frame] = tail
    this.#lines.add(on, frame, taken + 1 === length[frame] ? tail : begun + latencyNs[on])
  }
}
