import { Queue } from '../queue.js'

/** A frame in flight: the fabric's own copies of header and payload. */
interface QueuedFrame {
  readonly header: Int32Array
  readonly payload: Uint8Array
  /** The turn of the delivering task before which it must not be delivered. */
  readonly dueTurn: number
}

/**
 * The frames in flight to one process. The order draws a source once per queued frame, and the source's oldest frame is
 * taken. So every order of draws delivers the frames of a source in order.
 */
export class LocalInbox {
  readonly #frames: (Queue<QueuedFrame> | undefined)[] = []
  readonly #order: DeliveryOrder<number>
  /** The draws put back because the source's oldest frame was not due. */
  #held: number[] = []
  #size = 0

  constructor(order: DeliveryOrder<number>) {
    this.#order = order
  }

  /** The number of frames in flight, those held back included. */
  get size(): number {
    return this.#size
  }

  push(src: number, frame: QueuedFrame): void {
    this.#frames[src] ??= new Queue()
    this.#frames[src].push(frame)
    this.#order.push(src)
    this.#size++
  }

  /** Returns the next frame that is due, or undefined when no frame is due in this turn. */
  take(turn: number): { readonly src: number; readonly frame: QueuedFrame } | undefined {
    for (;;) {
      const src = this.#order.take()
      if (src === undefined) return undefined
      const queue = this.#frames[src]!
      // A draw outlives its frame only when `drop` removed the frame.
      const oldest = queue.peek()
      if (oldest === undefined) continue
      if (oldest.dueTurn > turn) {
        this.#held.push(src)
        continue
      }
      queue.take()
      this.#size--
      return { src, frame: oldest }
    }
  }

  /** Returns the frames held back to the next turn's draws; returns how many there are. */
  release(): number {
    const held = this.#held
    if (held.length === 0) return 0
    this.#held = []
    for (const src of held) this.#order.push(src)
    return held.length
  }

  /** Drops all frames from `src`, or from every process; returns how many. */
  drop(src?: number): number {
    const before = this.#size
    if (src === undefined) {
      for (const queue of this.#frames) queue?.clear()
      this.#order.clear()
      this.#held = []
      this.#size = 0
    } else {
      this.#size -= this.#frames[src]?.size ?? 0
      this.#frames[src]?.clear()
    }
    return before - this.#size
  }
}

/** A collection of pending deliveries, in the order in which `take` returns them. */
export interface DeliveryOrder<T> {
  readonly size: number
  push(item: T): void
  take(): T | undefined
  clear(): void
}

/** An order that takes one of the items at random, each with the same probability. */
export class RandomOrder<T> implements DeliveryOrder<T> {
  readonly #random: () => number
  #items: T[] = []

  constructor(random: () => number) {
    this.#random = random
  }

  get size(): number {
    return this.#items.length
  }

  push(item: T): void {
    this.#items.push(item)
  }

  take(): T | undefined {
    const items = this.#items
    if (items.length === 0) return undefined
    const at = Math.floor(this.#random() * items.length)
    const item = items[at]!
    const last = items.pop()!
    if (at < items.length) items[at] = last
    return item
  }

  clear(): void {
    this.#items = []
  }
}
