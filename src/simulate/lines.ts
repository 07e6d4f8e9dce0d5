import type { EventQueue } from './event-queue.js'

/**
 * Frames on their way, in lines by where they are: those of one line get on one after the other, so only the first of a line is an
 * event. So the queue stays short when many frames wait for a link.
 */
export class Lines {
  readonly #queue: EventQueue
  readonly #lineEvents: number
  readonly #frameEvents: number
  /** First and last frame of every line; -1 for an empty one. */
  readonly #first: Int32Array
  readonly #last: Int32Array
  /** The frame behind this one; -1 for the last. */
  readonly #next: Int32Array
  readonly #time: Float64Array

  /** @param lineEvents number of line 0's events @param frameEvents number of those of frame 0 outside the lines */
  constructor(queue: EventQueue, lines: number, frames: number, lineEvents: number, frameEvents: number) {
    this.#queue = queue
    this.#lineEvents = lineEvents
    this.#frameEvents = frameEvents
    this.#first = new Int32Array(lines).fill(-1)
    this.#last = new Int32Array(lines).fill(-1)
    this.#next = new Int32Array(frames)
    this.#time = new Float64Array(frames)
  }

  /** A frame gets on at a time. One that overtakes the last of the line is an event of its own. */
  add(line: number, frame: number, time: number): void {
    const last = this.#last[line]
    if (last !== -1 && this.#time[last] > time) {
      this.#queue.push(time, this.#frameEvents + frame)
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

  /** The first frame of a line, whose time has come, leaves it. */
  take(line: number): number {
    const frame = this.#first[line]
    const next = this.#next[frame]
    this.#first[line] = next
    if (next === -1) this.#last[line] = -1
    else this.#queue.push(this.#time[next], this.#lineEvents + line)
    return frame
  }
}
