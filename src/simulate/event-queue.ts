/**
 * Events by time, those of one time by number: a heap of four children per node on typed arrays. Numbers need not be distinct.
 * Times must be finite.
 */
export class EventQueue {
  #times: Float64Array
  #numbers: Int32Array
  #length = 0
  /** The number of the event that `next` took out. */
  number = -1

  constructor(capacity: number) {
    this.#times = new Float64Array(Math.max(4, capacity))
    this.#numbers = new Int32Array(Math.max(4, capacity))
  }

  get length(): number {
    return this.#length
  }

  push(time: number, number: number): void {
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

  /** Takes out the first event: returns its time and leaves its number in `number`. The queue must not be empty. */
  next(): number {
    const times = this.#times
    const numbers = this.#numbers
    const first = times[0]
    this.number = numbers[0]
    const length = --this.#length
    const time = times[length]
    const number = numbers[length]
    let at = 0
    for (let child = 1; child < length; child = 4 * at + 1) {
      const end = child + 4 < length ? child + 4 : length
      let least = child
      for (let other = child + 1; other < end; other++) {
        if (times[other] < times[least] || (times[other] === times[least] && numbers[other] < numbers[least]))
          least = other
      }
      if (time < times[least] || (time === times[least] && number <= numbers[least])) break
      times[at] = times[least]
      numbers[at] = numbers[least]
      at = least
    }
    times[at] = time
    numbers[at] = number
    return first
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
