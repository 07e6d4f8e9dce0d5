import { drawnPermutation, mulberry32 } from '../../base/random.js'
import type { NeighborSets } from '../neighbors.js'

/** Label of every rank: a permutation drawn with the seed, the same on every machine. */
export function seededLabels(ranks: number, seed: number): Int32Array {
  return drawnPermutation(mulberry32(seed), ranks)
}

/** The rows in another order: row i is that of `order[i]`. */
export function permuteRows({ start, rank }: NeighborSets, order: Int32Array): NeighborSets {
  const permuted = new Int32Array(start.length)
  for (const [i, r] of order.entries()) permuted[i + 1] = permuted[i] + start[r + 1] - start[r]
  const ranks = new Int32Array(rank.length)
  for (const [i, r] of order.entries()) ranks.set(rank.subarray(start[r], start[r + 1]), permuted[i])
  return { start: permuted, rank: ranks }
}

export function inverse(permutation: Int32Array): Int32Array {
  const inverted = new Int32Array(permutation.length)
  for (let i = 0; i < permutation.length; i++) inverted[permutation[i]] = i
  return inverted
}
