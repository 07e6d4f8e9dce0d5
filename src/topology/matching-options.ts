import { RankweaveError } from '../errors.js'

/**
 * The threshold when none is given: with more common neighbors than this a group sends less in all than its members
 * would alone (aware), or than groups of k-1 would (agnostic).
 *
 * @see Ghazimirsaeed 2019 §7.3.3
 */
export function defaultTheta(k: number, mode: 'agnostic' | 'aware'): number {
  return mode === 'aware' ? k : k * (k - 1)
}

/** @throws ERR_STRATEGY k < 2, theta not a whole number >= 0, nodes for another number of ranks */
export function checkFriendOptions(ranks: number, k: number, theta: number, nodeOf: Int32Array | null): void {
  if (!Number.isInteger(k) || k < 2) throw refused(`expected k, a whole number >= 2, got ${k}`)
  if (!Number.isInteger(theta) || theta < 0)
    throw refused(`expected theta, a whole number >= 0, got ${theta}`)
  if (nodeOf !== null && nodeOf.length !== ranks)
    throw refused(`expected a node for each of ${ranks} ranks, got ${nodeOf.length}`)
}

export function refused(message: string): RankweaveError {
  return new RankweaveError('ERR_STRATEGY', message)
}
