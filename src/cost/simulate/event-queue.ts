/**
 * A queue of events by time, those of one time by number: a heap of four children per node on typed arrays. Times must
 * be finite.
 *
 * The event taken out leaves a hole at the top, which the next one that is added fills. Most events cause one other, so
 * the heap is repaired once, not twice.
 */
export class EventQueue {
  #times: Float64Array
  #numbers: Int32Array
  /** The number of events, the hole included. */
  #length = 0
  #hasHole = false
  /** The number of the event that `next` took out. */
  number = -1

  constructor(capacity: number) {
    this.#times = new Float64Array(Math.max(4, capacity))
    this.#numbers = new Int32Array(Math.max(4, capacity))
  }

  get length(): number {
    return this.#hasHole ? this.#length - 1 : this.#length
  }

  /** The time of the first event; Infinity if the queue is empty. */
  get first(): number {
    this.#fillHole()
    return this.#length === 0 ? Number.POSITIVE_INFINITY : this.#times[0]
  }

  push(time: number, number: number): void {
    if (this.#hasHole) {
      this.#hasHole = false
      this.#sink(time, number)
    } else this.#rise(time, number)
  }

  /** Takes out the first event: returns its time and leaves its number in `number`. The queue must not be empty. */
  next(): number {
    this.#fillHole()
    this.#hasHole = true
    this.number = this.#numbers[0]
    return this.#times[0]
  }

  /** Fills the hole with the last event. */
  #fillHole(): void {
    if (!this.#hasHole) return
    this.#hasHole = false
    const last = --this.#length
    if (last > 0) this.#sink(this.#times[last], this.#numbers[last])
  }

  /** Adds an event at the end and moves it up to its place. */
  #rise(time: number, number: number): void {
    if (this.#length === this.#times.length) this.#grow()
    const times = this.#times
    const numbers = this.#numbers
    let at = this.#length++
    while (at > 0) {
      const parent = (at - 1) >> 2
      const before = times[parent]
      if (before < time || (before === time && numbers[parent] <= number)) break
      times[at] = before
      numbers[at] = numbers[parent]
      at = parent
    }
    times[at] = time
    numbers[at] = number
  }

  /** Places an event from the free top on. */
  #sink(time: number, number: number): void {
    const times = this.#times
    const numbers = this.#numbers
    const length = this.#length
    let at = 0
    for (let child = 1; child < length; child = 4 * at + 1) {
      const end = child + 4 < length ? child + 4 : length
      let least = child
      let leastTime = times[child]
      for (let other = child + 1; other < end; other++) {
        const otherTime = times[other]
        if (otherTime < leastTime || (otherTime === leastTime && numbers[other] < numbers[least])) {
          least = other
          leastTime = otherTime
        }
      }
      if (time < leastTime || (time === leastTime && number <= numbers[least])) break
      times[at] = leastTime
      numbers[at] = numbers[least]
      at = least
    }
    times[at] = time
    numbers[at] = number
  }

  #grow(): void {
    const times = new Float64Array(2 * this.#length)
    const numbers = new Int32Array(2 * this.#length)
    times.set(this.#times)
    numbers.set(this.#numbers)
    this.#times = times
    this.#numbers = numbers
  }
}
