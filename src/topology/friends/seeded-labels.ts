import { drawnPermutation, mulberry32 } from '../../base/random.js'

/** Returns the label of every rank: a permutation drawn with the seed, the same on every machine. */
export function seededLabels(ranks: number, seed: number): Int32Array {
  return drawnPermutation(mulberry32(seed), ranks)
}
