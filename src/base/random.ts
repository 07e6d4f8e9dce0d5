/**
 * The mulberry32 generator: each call returns the next of 2^32 unsigned 32-bit integers. The seed is taken modulo 2^32.
 * It is small and fast, and its sequence is the same everywhere; it does not suit secrets.
 */
export function mulberry32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t
    return (t ^ (t >>> 14)) >>> 0
  }
}

/** Returns the sequence of {@link mulberry32} as numbers in [0, 1). */
export function seededRandom(seed: number): () => number {
  const next = mulberry32(seed)
  return () => next() / 2 ** 32
}

/** Returns an integer below n, from one draw of {@link mulberry32}. */
export function below(next: () => number, n: number): number {
  return Math.floor((next() / 2 ** 32) * n)
}

/** Returns a permutation of 0 to count - 1, from count - 1 draws (Fisher and Yates). */
export function drawnPermutation(next: () => number, count: number): Int32Array {
  const order = Int32Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const j = below(next, i + 1)
    const other = order[i]
    order[i] = order[j]
    order[j] = other
  }
  return order
}
