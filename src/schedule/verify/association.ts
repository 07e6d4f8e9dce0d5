import { mixed } from '../../base/multiset-digest.js'

/**
 * Hashes a contributor by its rank. Hashes show how contributors are associated: that of a combination follows from
 * those of its operands in their order. They have 64 bits, in two halves, and are equal by accident with probability
 * 2^-64.
 */

export function leafHash(origin: number, half: 0 | 1): number {
  return mixed(origin ^ seeds[half], factors[half])
}

/** @param left the hash of the left operand, the same half */
export function combinationHash(left: number, right: number, half: 0 | 1): number {
  return mixed(mixed(left ^ seeds[2 + half], factors[half]) + right, factors[half])
}

/** Returns the hash of one association, or of several in any order; null of none. */
export function hashOfAll(associations: Iterable<Association>): string | null {
  const all = [...associations].sort((a, b) => a.high - b.high || a.low - b.low)
  if (all.length === 0) return null
  return formatHash(all.reduce(combined))
}

/** Formats a hash as 16 hexadecimal digits. */
export function formatHash({ low, high }: Association): string {
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}

export interface Association {
  readonly low: number
  readonly high: number
}

export function combined(left: Association, right: Association): Association {
  return { low: combinationHash(left.low, right.low, 0), high: combinationHash(left.high, right.high, 1) }
}

export function leaf(origin: number): Association {
  return { low: leafHash(origin, 0), high: leafHash(origin, 1) }
}

const seeds = [0x2545f491, 0x6c62272e, 0x9e3779b9, 0x3c6ef372]
const factors = [0x85ebca6b, 0xc2b2ae35]
