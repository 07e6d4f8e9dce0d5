import { sha256 as portable } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { nodeProcess } from './node-process.js'

/** The hash of no words by FNV-1a. */
const fnvBasis = 0x811c9dc5
const fnvPrime = 0x01000193

/**
 * Hashes 32-bit words by FNV-1a (Fowler, Noll and Vo), a word at a time.
 *
 * @param hash of the words before them
 */
export function hashIntegers(words: ArrayLike<number>, from = 0, hash = fnvBasis): number {
  let sum = hash
  for (let i = from; i < words.length; i++) sum = Math.imul(sum ^ words[i], fnvPrime)
  return sum
}

/** Hashes the UTF-16 units of a text as {@link hashIntegers} hashes words, without an array of them. */
export function hashText(text: string): number {
  let sum = fnvBasis
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), fnvPrime)
  return sum
}

/** Mixes a word by the finalizer of MurmurHash3 (Appleby 2011): each bit of the result depends on all bits of the word. */
export function mixedWord(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

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

/** SHA-256 of the data added so far, as 64 lowercase hexadecimal digits. It is synchronous, which Web Crypto is not. */
interface Sha256 {
  /** Adds data; a text counts as its UTF-8. */
  update(data: string | Uint8Array): this
  /** Ends the hash and returns it. */
  digest(): string
}

/** Uses Node's hash if there is one, which is ten times as fast; the digests are the same. */
export function sha256(): Sha256 {
  const node = nodeProcess?.getBuiltinModule?.('node:crypto').createHash('sha256')
  if (node === undefined) return portableSha256()
  return {
    update(data) {
      node.update(data)
      return this
    },
    digest: () => node.digest('hex'),
  }
}

/** Hashes in pages, and in Node before 20.16, which has no modules without an import. */
export function portableSha256(): Sha256 {
  const hash = portable.create()
  return {
    update(data) {
      hash.update(typeof data === 'string' ? utf8ToBytes(data) : data)
      return this
    },
    digest: () => bytesToHex(hash.digest()),
  }
}
