import type { EventQueue } from './event-queue.js'

/**
 * Frames that wait for a time, in lines. The times of one line mostly ascend, so only the first frame of each is in the
 * queue of events, which stays short.
 */
export class Lines {
  readonly #queue: EventQueue
  readonly #lineEvents: number
  /** The first and the last frame of every line; -1 for an empty one. */
  readonly #first: Int32Array
  readonly #last: Int32Array
  /** The frame behind this one; -1 for the last. */
  readonly #next: Int32Array
  readonly #time: Float64Array

  /** @param lineEvents number of line 0's events */
  constructor(queue: EventQueue, lines: number, frames: number, lineEvents: number) {
    this.#queue = queue
    this.#lineEvents = lineEvents
    this.#first = new Int32Array(lines).fill(-1)
    this.#last = new Int32Array(lines).fill(-1)
    this.#next = new Int32Array(frames)
    this.#time = new Float64Array(frames)
  }

  /**
   * Adds a frame that may leave at `time`.
   *
   * @param ownEvent the number of the event of a frame that is not to wait as long as the last of its line
   */
  add(line: number, frame: number, time: number, ownEvent: number): void {
    const last = this.#last[line]
    if (last !== -1 && this.#time[last] > time) {
      this.#queue.push(time, ownEvent)
      return
    }
    this.#time[frame] = time
    this.#next[frame] = -1
    this.#last[line] = frame
    if (last !== -1) this.#next[last] = frame
    else {
      this.#first[line] = frame
      this.#queue.push(time, this.#lineEvents + line)
    }
  }

  /** Removes the first frame of a line, whose time has come. */
  take(line: number): number {
    const frame = this.#first[line]
    const next = this.#next[frame]
    this.#first[line] = next
    if (next === -1) this.#last[line] = -1
    else this.#queue.push(this.#time[next], this.#lineEvents + line)
    return frame
  }
}
