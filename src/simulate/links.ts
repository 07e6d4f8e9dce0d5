import type { EventQueue } from './event-queue.js'
import type { Ways } from './ways.js'

/**
 * Messages on links. A link serves one message at a time, in the order in which their first bytes come to it; message of
 * m bytes for `m * nsPerByte`. The first byte goes on to the next link `latencyNs` after the link began with it, while the
 * others follow (cut-through).
 */
export class Links {
  readonly #ways: Ways
  readonly #bytes: Float64Array
  readonly #queue: EventQueue
  /** When each link has served what has come to it. */
  readonly #free: Float64Array
  /** Messages whose first byte is on a link, by its arrival at the next: a list per link, -1 where it ends. */
  readonly #first: Int32Array
  readonly #last: Int32Array
  readonly #next: Int32Array
  /** When the first byte is at the end of the link that a message is on. */
  readonly #head: Float64Array
  /** When the last byte is there. */
  readonly #tail: Float64Array
  readonly #hop: Int32Array
  readonly #linkEvents: number
  readonly #arrivals: number

  /** @param linkEvents number of link 0's events @param arrivals number of the event of frame 0's arrival */
  constructor(ways: Ways, bytes: Float64Array, queue: EventQueue, linkEvents: number, arrivals: number) {
    const links = ways.network.latencyNs.length
    this.#ways = ways
    this.#bytes = bytes
    this.#queue = queue
    this.#free = new Float64Array(links)
    this.#first = new Int32Array(links).fill(-1)
    this.#last = new Int32Array(links)
    this.#next = new Int32Array(bytes.length)
    this.#head = new Float64Array(bytes.length)
    this.#tail = new Float64Array(bytes.length)
    this.#hop = new Int32Array(bytes.length)
    this.#linkEvents = linkEvents
    this.#arrivals = arrivals
  }

  /** All bytes of a frame are ready for the first link of its route. */
  enter(frame: number, now: number): void {
    this.#tail[frame] = now
    this.#serve(frame, now)
  }

  /** The first message on a link comes to the next link of its route. */
  advance(link: number, now: number): void {
    const frame = this.#first[link]
    const next = this.#next[frame]
    this.#first[link] = next
    if (next !== -1) this.#queue.push(this.#head[next], this.#linkEvents + link)
    this.#serve(frame, now)
  }

  #serve(frame: number, now: number): void {
    const { link, start, length, network } = this.#ways
    const { latencyNs, nsPerByte } = network
    const hop = this.#hop[frame]++
    const on = link[start[frame] + hop]
    const begun = Math.max(now, this.#free[on])
    const served = begun + this.#bytes[frame] * nsPerByte[on]
    this.#free[on] = served
    const tail = Math.max(served, this.#tail[frame]) + latencyNs[on]
    this.#tail[frame] = tail
    if (hop + 1 === length[frame]) {
      this.#queue.push(tail, this.#arrivals + frame)
      return
    }
    const head = begun + latencyNs[on]
    this.#head[frame] = head
    this.#next[frame] = -1
    if (this.#first[on] === -1) {
      this.#first[on] = frame
      this.#queue.push(head, this.#linkEvents + on)
    } else this.#next[this.#last[on]] = frame
    this.#last[on] = frame
  }
}
