import { RankweaveError } from '../errors.js'

/**
 * The mulberry32 generator: each call returns the next of 2^32 unsigned 32-bit integers. The seed is taken modulo 2^32.
 * Small and fast, with the same sequence everywhere; not for secrets.
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

/** A whole number below n, from one draw. */
export function below(next: () => number, n: number): number {
  return Math.floor((next() / 2 ** 32) * n)
}

/** @throws ERR_TOPOLOGY */
export function checkSeed(seed: number): void {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new RankweaveError('ERR_TOPOLOGY', `expected a whole number as seed, got ${seed}`)
}

/** @throws ERR_TOPOLOGY for what is no number from 0 to 1 */
export function checkProbability(what: string, value: number): void {
  if (!(value >= 0 && value <= 1))
    throw new RankweaveError('ERR_TOPOLOGY', `expected ${what} from 0 to 1, got ${value}`)
}
