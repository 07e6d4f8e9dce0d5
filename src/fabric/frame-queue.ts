/** First in, first out; O(1) amortized, and an empty queue holds no memory of what went through. */
export class Queue<T> {
  #items: T[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  peek(): T | undefined {
    return this.#items[this.#head]
  }

  take(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#head]!
    this.#head++
    if (this.#head === this.#items.length) {
      this.#items = []
      this.#head = 0
    } else if (this.#head >= 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }
}

/** Takes one of the items at random, all alike. */
export class Bag<T> {
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

/** Where a delivery order is drawn from. */
export interface Order<T> {
  readonly size: number
  push(item: T): void
  take(): T | undefined
  clear(): void
}

/** A frame under way: the fabric's own copies of header and payload. */
export interface QueuedFrame {
  readonly header: Int32Array
  readonly payload: Uint8Array
  /** Pump turn before which it must not be delivered. */
  readonly dueTurn: number
}

/**
 * The frames under way to one process. The order draws a source once per queued frame, and the source's oldest
 * frame is taken: so any order of draws keeps the frames of a source in order.
 */
export class Inbox {
  readonly #frames: (Queue<QueuedFrame> | undefined)[] = []
  readonly #order: Order<number>
  /** Draws put back because the source's oldest frame was not due. */
  #held: number[] = []
  #size = 0

  constructor(order: Order<number>) {
    this.#order = order
  }

  /** Frames under way, those held back included. */
  get size(): number {
    return this.#size
  }

  push(src: number, frame: QueuedFrame): void {
    this.#frames[src] ??= new Queue()
    this.#frames[src].push(frame)
    this.#order.push(src)
    this.#size++
  }

  /** The next frame that is due, or undefined when there is none in this turn. */
  take(turn: number): { readonly src: number; readonly frame: QueuedFrame } | undefined {
    for (;;) {
      const src = this.#order.take()
      if (src === undefined) return undefined
      const queue = this.#frames[src]!
      // A draw outlives its frame only when `drop` took the frame away.
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

  /** Lets the frames held back take part in the next turn; returns how many there are. */
  release(): number {
    const held = this.#held
    if (held.length === 0) return 0
    this.#held = []
    for (const src of held) this.#order.push(src)
    return held.length
  }

  /** Loses all frames from `src`, or from everyone; returns how many. */
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
