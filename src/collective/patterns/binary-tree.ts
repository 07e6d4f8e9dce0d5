/**
 * The binary tree of broadcasts, by distance from the root. On level l are the ranks from 2^l - 1 on; such a
 * rank has the children 2^l and 2^(l + 1) further on. Below the root's first child are the odd ranks, below
 * its second the even ones, and both subtrees have equally many ranks, or the first one more.
 *
 * @see Pjesivac-Grbovic 2007 §4.1.1 (balanced binary tree)
 */
export interface BinaryTreePlace {
  /** Also the phase after which a rank on it has its data. */
  readonly level: number
  /** -1 for the root. */
  readonly parent: number
  readonly children: readonly number[]
}

export function binaryTreePlace(ranks: number, vrank: number): BinaryTreePlace {
  const level = 31 - Math.clz32(vrank + 1)
  const above = 2 ** (level - 1)
  const firstAbove = above - 1
  const near = vrank - above
  // Of both ranks that could have it as a child, the one on the level above.
  const parent = vrank === 0 ? -1 : near >= firstAbove && near < 2 ** level - 1 ? near : vrank - 2 * above
  const children = [vrank + 2 ** level, vrank + 2 ** (level + 1)].filter((child) => child < ranks)
  return { level, parent, children }
}
