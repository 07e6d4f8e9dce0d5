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
