export interface RankLocations {
  processOf(rank: number): number
  /** Returns the rank after the run of consecutive ranks on one process that a rank is in. */
  endOfRun(rank: number): number
}

/** A maximal part of the reduction tree whose ranks are consecutive on one process. */
export interface TreePiece {
  readonly first: number
  readonly ranks: number
  readonly process: number
}

/** The whole tree above the pieces, for a process that combines it all. */
export interface PieceTree {
  readonly pieces: readonly TreePiece[]
  /**
   * The number of times that the two topmost values of a stack are combined after each piece: `merges[i]` times once
   * piece i is on it.
   */
  readonly merges: readonly number[]
}

/** Returns the tree in O(pieces * lg ranks) time; undefined when there are more than `most` pieces. */
export function pieceTree(
  ranks: number,
  { processOf, endOfRun }: RankLocations,
  most: number,
): PieceTree | undefined {
  const pieces: TreePiece[] = []
  const merges: number[] = []
  const visit = (first: number, size: number): boolean => {
    const end = Math.min(first + size, ranks)
    if (endOfRun(first) >= end) {
      pieces.push({ first, ranks: end - first, process: processOf(first) })
      merges.push(0)
      return pieces.length <= most
    }
    const middle = first + size / 2
    if (!visit(first, size / 2)) return false
    if (middle >= end) return true
    if (!visit(middle, size / 2)) return false
    merges[merges.length - 1]++
    return true
  }
  let size = 1
  while (size < ranks) size *= 2
  return visit(0, size) ? { pieces, merges } : undefined
}
