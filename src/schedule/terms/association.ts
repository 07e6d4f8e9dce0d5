/**
 * Hashes of how contributors are associated: of a contributor by its rank, of a combination by those of its operands in
 * their order. Of 64 bits, in two halves; equal by accident with probability 2^-64.
 */

export function leafHash(origin: number, half: 0 | 1): number {
  return mixed(origin ^ seeds[half], factors[half])
}

/** @param left hash of the left operand, the same half */
export function combinationHash(left: number, right: number, half: 0 | 1): number {
  return mixed(mixed(left ^ seeds[2 + half], factors[half]) + right, factors[half])
}

export function formatHash(low: number, high: number): string {
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}

const seeds = [0x2545f491, 0x6c62272e, 0x9e3779b9, 0x3c6ef372]
const factors = [0x85ebca6b, 0xc2b2ae35]

function mixed(word: number, factor: number): number {
  let hash = Math.imul(word ^ (word >>> 15), factor)
  hash = Math.imul(hash ^ (hash >>> 13), 0x9e3779b1)
  return hash ^ (hash >>> 16)
}

/**
 * The association of the tree that `order: 'tree'` follows: its node (l, i) combines the nodes (l - 1, 2i) and
 * (l - 1, 2i + 1), which cover the ranks `[i * 2^l, (i + 1) * 2^l)`, or is the only one of them that has a rank.
 * A schedule whose `verify(schedule).association` equals it yields the same bits.
 *
 * @param ranks participants of the schedule
 * @param firstRank the first rank of every participant where participants are runs of consecutive ranks, and the number of
 *   ranks: length `ranks + 1`, ascending. A participant is then where its first rank is. Default: one rank each.
 */
export function treeAssociation(ranks: number, firstRank: Int32Array | null = null): string {
  // Equal to merging neighbors level by level: participants that no node of the level separates become one.
  let position = Float64Array.from({ length: ranks }, (_, j) => firstRank?.[j] ?? j)
  let low = Int32Array.from(position, (_, j) => leafHash(j, 0))
  let high = Int32Array.from(position, (_, j) => leafHash(j, 1))
  while (position.length > 1) {
    let nodes = 0
    for (let j = 0; j < position.length; j++, nodes++) {
      const above = Math.floor(position[j] / 2)
      const isPair = j + 1 < position.length && Math.floor(position[j + 1] / 2) === above
      low[nodes] = isPair ? combinationHash(low[j], low[j + 1], 0) : low[j]
      high[nodes] = isPair ? combinationHash(high[j], high[j + 1], 1) : high[j]
      position[nodes] = above
      if (isPair) j++
    }
    position = position.subarray(0, nodes)
    low = low.subarray(0, nodes)
    high = high.subarray(0, nodes)
  }
  return ranks === 0 ? '' : formatHash(low[0], high[0])
}
