import { ones } from '../../base/ascending-set.js'

const steps = 5

/**
 * Selects columns of rows of bits and packs them: parallel suffix compression, as in Warren, Hacker's
 * Delight, section 7-4, with the work that depends on the columns alone done once.
 */
export class RowCompressor {
  /** The number of words with selected columns; the arrays below have one entry or `steps` entries for each. */
  #count = 0
  #word = new Int32Array(0)
  #mask = new Int32Array(0)
  /** The bits of each word that move by 1, 2, 4, 8 and 16 places. */
  #moves = new Int32Array(0)
  #selected = new Int32Array(0)

  /** Selects the columns set in a row: `words` words of `bits` from word `at`. */
  prepare(bits: Int32Array, at: number, words: number): void {
    if (this.#mask.length < words) {
      this.#word = new Int32Array(words)
      this.#mask = new Int32Array(words)
      this.#selected = new Int32Array(words)
      this.#moves = new Int32Array(words * steps)
    }
    let count = 0
    for (let w = 0; w < words; w++) {
      let mask = bits[at + w]
      if (mask === 0) continue
      this.#word[count] = w
      this.#mask[count] = mask
      this.#selected[count] = ones(mask)
      let gaps = ~mask << 1
      for (let step = 0; step < steps; step++) {
        let parity = gaps ^ (gaps << 1)
        parity ^= parity << 2
        parity ^= parity << 4
        parity ^= parity << 8
        parity ^= parity << 16
        const moves = parity & mask
        this.#moves[count * steps + step] = moves
        mask = (mask ^ moves) | (moves >>> (1 << step))
        gaps &= ~parity
      }
      count++
    }
    this.#count = count
  }

  /**
   * Writes the selected columns of a row to word `to` of another array. Returns the number of ones among
   * them.
   */
  compress(bits: Int32Array, at: number, into: Int32Array, to: number): number {
    const places = this.#word
    const mask = this.#mask
    const moves = this.#moves
    const selected = this.#selected
    let size = 0
    let word = 0
    let filled = 0
    let out = to
    for (let i = 0, m = 0; i < this.#count; i++, m += steps) {
      let x = bits[at + places[i]] & mask[i]
      let moved = x & moves[m]
      x = (x ^ moved) | (moved >>> 1)
      moved = x & moves[m + 1]
      x = (x ^ moved) | (moved >>> 2)
      moved = x & moves[m + 2]
      x = (x ^ moved) | (moved >>> 4)
      moved = x & moves[m + 3]
      x = (x ^ moved) | (moved >>> 8)
      moved = x & moves[m + 4]
      x = (x ^ moved) | (moved >>> 16)
      word |= x << filled
      filled += selected[i]
      if (filled < 32) continue
      into[out++] = word
      size += ones(word)
      filled -= 32
      // These are the bits that did not fit; JavaScript shifts by 32 as by 0.
      word = filled === 0 ? 0 : x >>> (selected[i] - filled)
    }
    if (filled > 0) {
      into[out] = word
      size += ones(word)
    }
    return size
  }
}
