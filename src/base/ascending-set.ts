/** Counts the ones in a 32-bit word. */
export function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Every element whose index is a multiple of this has the word of its upper part noted. */
const noted = 128

/**
 * Ascending integers from 0 in about 2 + lg(largest / count) bits each (Elias 1974, Fano 1971). The lowest bits of each
 * are side by side. The rest is in unary, as one bit per element, at place `upper part + index` of a bit map.
 */
export class AscendingSet {
  readonly count: number
  readonly #lowBits: number
  readonly #low: Int32Array
  readonly #high: Int32Array
  /** The word of `#high` that has the bit of element 0, 128, 256, ... */
  readonly #wordOf: Int32Array
  /** For each of these, the number of elements whose bits are in earlier words. */
  readonly #before: Int32Array

  /** @param elements ascending, without repetitions, at least one */
  constructor(elements: ArrayLike<number>) {
    const count = elements.length
    const bound = elements[count - 1] + 1
    this.count = count
    this.#lowBits = Math.max(0, Math.floor(Math.log2(bound / count)))
    this.#low = new Int32Array(Math.ceil((count * this.#lowBits) / 32))
    this.#high = new Int32Array(Math.ceil((count + (bound >>> this.#lowBits) + 1) / 32))
    for (let i = 0; i < count; i++) {
      this.#putLow(i, elements[i])
      const place = (elements[i] >>> this.#lowBits) + i
      this.#high[place >>> 5] |= 1 << (place & 31)
    }
    const notes = Math.ceil(count / noted)
    this.#wordOf = new Int32Array(notes)
    this.#before = new Int32Array(notes)
    for (let word = 0, before = 0, next = 0; next < notes; word++) {
      const after = before + ones(this.#high[word])
      for (; next < notes && next * noted < after; next++) {
        this.#wordOf[next] = word
        this.#before[next] = before
      }
      before = after
    }
  }

  get sizeBytes(): number {
    return this.#low.byteLength + this.#high.byteLength + this.#wordOf.byteLength + this.#before.byteLength
  }

  at(index: number): number {
    const note = Math.floor(index / noted)
    let word = this.#wordOf[note]
    let left = index - this.#before[note]
    let bits = this.#high[word]
    for (let inWord = ones(bits); left >= inWord; inWord = ones(bits)) {
      left -= inWord
      bits = this.#high[++word]
    }
    for (; left > 0; left--) bits &= bits - 1
    const place = word * 32 + (31 - Math.clz32(bits & -bits))
    return (place - index) * 2 ** this.#lowBits + this.#lowOf(index)
  }

  /** Returns the index of an element, or -1. O(lg count). */
  indexOf(element: number): number {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.at(middle) < element) low = middle + 1
      else high = middle
    }
    return low < this.count && this.at(low) === element ? low : -1
  }

  #putLow(index: number, element: number): void {
    for (let bit = 0; bit < this.#lowBits; bit++) {
      if (((element >>> bit) & 1) === 0) continue
      const place = index * this.#lowBits + bit
      this.#low[place >>> 5] |= 1 << (place & 31)
    }
  }

  #lowOf(index: number): number {
    const bits = this.#lowBits
    if (bits === 0) return 0
    const place = index * bits
    const word = place >>> 5
    const shift = place & 31
    let value = this.#low[word] >>> shift
    if (shift + bits > 32) value |= this.#low[word + 1] << (32 - shift)
    return value & (2 ** bits - 1)
  }
}
