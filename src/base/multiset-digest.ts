/**
 * A digest of 64 bits of a multiset of integer sequences: the sum, modulo 2^32 each, of two hashes of every sequence.
 * Sums of several digests add up to that of all their sequences, in any order, and a removed sequence cancels an added
 * one. It does not resist adversaries: two multisets that differ by accident have the same digest with probability
 * 2^-64.
 */
export class MultisetDigest {
  low = 0
  high = 0
  #a = 0
  #b = 0

  begin(): void {
    this.#a = 0x2545f491
    this.#b = 0x6c62272e
  }

  word(value: number): void {
    this.#a = mixed(this.#a ^ value, 0x85ebca6b)
    this.#b = mixed(this.#b ^ value, 0xc2b2ae35)
  }

  /** Ends a sequence and adds it. */
  add(): void {
    this.low = (this.low + mixed(this.#a, 0x27d4eb2f)) >>> 0
    this.high = (this.high + mixed(this.#b, 0x165667b1)) >>> 0
  }

  /** Ends a sequence and removes it, whether or not it is in the multiset. */
  remove(): void {
    this.low = (this.low - mixed(this.#a, 0x27d4eb2f)) >>> 0
    this.high = (this.high - mixed(this.#b, 0x165667b1)) >>> 0
  }
}

/** Hashes a word; the hash is one-to-one for an odd factor. */
export function mixed(word: number, factor: number): number {
  let hash = Math.imul(word ^ (word >>> 15), factor)
  hash = Math.imul(hash ^ (hash >>> 13), 0x9e3779b1)
  return hash ^ (hash >>> 16)
}
