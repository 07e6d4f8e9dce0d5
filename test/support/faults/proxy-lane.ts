import type { Socket } from 'node:net'

/**
 * What a lane holds before it stops reading: more than a link of 1 GB/s with 50 ms carries at once would be
 * no test of ours.
 */
const maxHeldBytes = 64 * 2 ** 20

interface Held {
  readonly bytes: Buffer
  readonly dueMs: number
}

/** One direction of a connection: bytes from one socket to another, each after the latency, in order. */
export class Lane {
  /** Milliseconds by which every byte is late. */
  latencyMs: number
  /** Bytes that have passed. */
  passedBytes = 0
  readonly #from: Socket
  readonly #to: Socket
  #held: Held[] = []
  #heldBytes = 0
  #timer: NodeJS.Timeout | undefined
  #stalled = false
  #bytesPerSecond = Number.POSITIVE_INFINITY
  /** When the bytes that have passed are read, at the speed of a slow reader. */
  #freeMs = 0
  #left = Number.POSITIVE_INFINITY
  #atEnd: () => void = () => {}
  readonly #afterAll: (() => void)[] = []

  constructor(from: Socket, to: Socket, latencyMs: number) {
    this.#from = from
    this.#to = to
    this.latencyMs = latencyMs
    from.on('data', (bytes) => this.pass(bytes))
    to.on('drain', () => this.#flow())
    from.once('end', () => this.afterAll(() => to.end()))
    to.once('close', () => this.#drop())
  }

  get isStalled(): boolean {
    return this.#stalled
  }

  pass(bytes: Buffer): void {
    this.#held.push({ bytes, dueMs: performance.now() + this.latencyMs })
    this.#heldBytes += bytes.length
    this.#flow()
  }

  stall(): void {
    this.#stalled = true
    this.#flow()
  }

  /** The reader at the end of this lane takes so many bytes a second from now on. */
  slowTo(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond
    this.#freeMs = performance.now()
  }

  /** Passes so many more bytes, then nothing, and calls back. */
  endAfter(bytes: number, ended: () => void): void {
    this.#left = bytes
    this.#atEnd = ended
    this.#flow()
  }

  /** Calls back when nothing is held any more. */
  afterAll(callback: () => void): void {
    this.#afterAll.push(callback)
    this.#flow()
  }

  #drop(): void {
    this.#held = []
    this.#heldBytes = 0
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Writes what is due, plans the rest, and reads on or stops. */
  #flow(): void {
    while (!this.#stalled && this.#timer === undefined && !this.#to.writableNeedDrain) {
      const next = this.#held[0]
      if (next === undefined) break
      const waitMs = Math.max(next.dueMs, this.#freeMs) - performance.now()
      if (waitMs > 0) {
        this.#timer = setTimeout(() => {
          this.#timer = undefined
          this.#flow()
        }, waitMs)
        break
      }
      const piece = next.bytes.subarray(0, this.#pieceBytes())
      if (piece.length === next.bytes.length) this.#held.shift()
      else this.#held[0] = { ...next, bytes: next.bytes.subarray(piece.length) }
      this.#heldBytes -= piece.length
      this.#write(piece)
    }
    if (this.#held.length === 0 && !this.#stalled) {
      for (const callback of this.#afterAll.splice(0)) callback()
    }
    if (this.#stalled || this.#heldBytes >= this.#mostHeld()) this.#from.pause()
    else if (!this.#from.destroyed) this.#from.resume()
  }

  /** A slow reader holds little: what it has not read stays with the sender. */
  #mostHeld(): number {
    return this.#bytesPerSecond === Number.POSITIVE_INFINITY ? maxHeldBytes : 1
  }

  /** A slow reader takes them evenly, a hundred times a second. */
  #pieceBytes(): number {
    return Math.max(1, Math.ceil(this.#bytesPerSecond / 100))
  }

  #write(bytes: Buffer): void {
    const passed = bytes.subarray(0, this.#left)
    this.#left -= passed.length
    this.passedBytes += passed.length
    if (!this.#to.destroyed && passed.length > 0) this.#to.write(passed)
    this.#freeMs = performance.now() + (passed.length / this.#bytesPerSecond) * 1000
    if (this.#left > 0) return
    const ended = this.#atEnd
    this.#atEnd = () => {}
    ended()
  }
}
