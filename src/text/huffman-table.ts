/** Codes are at most this long. */
const longestCode = 15

/**
 * Decodes canonical prefix codes: entry `bits` of the table, the next 15 bits of the stream, is
 * `16 * symbol + length of its code`, or 0 where no code begins like that (RFC 1951, section 3.2.2).
 */
export class HuffmanTable {
  readonly entries = new Uint16Array(1 << longestCode)
  /** Codes of each length, and the next code of each length. */
  readonly #count = new Uint16Array(longestCode + 1)
  readonly #next = new Uint16Array(longestCode + 1)

  /** Makes the codes of the lengths, 0 for a symbol without code; false when more codes are given than exist. */
  assign(lengths: Uint8Array, from: number, to: number): boolean {
    const count = this.#count.fill(0)
    const next = this.#next
    for (let i = from; i < to; i++) if (lengths[i] > 0) count[lengths[i]]++
    let code = 0
    for (let length = 1; length <= longestCode; length++) {
      code = (code + count[length - 1]) << 1
      if (code + count[length] > 1 << length) return false
      next[length] = code
    }
    this.entries.fill(0)
    for (let i = from; i < to; i++) {
      const length = lengths[i]
      if (length === 0) continue
      const first = reversed(next[length]++, length)
      for (let bits = first; bits < 1 << longestCode; bits += 1 << length) {
        this.entries[bits] = ((i - from) << 4) | length
      }
    }
    return true
  }
}

/** The lowest `length` bits in reverse: the stream begins with a code's highest bit. */
function reversed(code: number, length: number): number {
  let bits = 0
  for (let i = 0; i < length; i++) bits |= ((code >> i) & 1) << (length - 1 - i)
  return bits
}
