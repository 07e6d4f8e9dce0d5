import { partialResult } from '../../schedule/ir.js'
import type { Shape } from './algorithm.js'
import type { RankOperations } from './rank-operations.js'
import { treeLevels, treePath } from './rank-tree.js'
import { combineReceived } from './values.js'

/**
 * Emits the operations of a rank that yield the combination of all ranks before it, of one part. Up the tree over ranks
 * a node learns the value of its left half. Down the tree its right half gets the combination of all before the node
 * with its left half. 2 ceil(lg P) phases; fewer than 2(P - 1) messages.
 *
 * @param to the place of the result; by default a temporary one
 * @returns the place of the result, -1 for rank 0, which no rank precedes
 */
export function prefixByTree(
  operations: RankOperations,
  shape: Shape,
  rank: number,
  { part, phase, to }: { readonly part: number; readonly phase: number; readonly to?: number },
): number {
  const path = treePath(shape, rank)
  const name = partialResult(part)
  // The values of the left halves of the path's nodes; only the left half of the last node may belong to another rank.
  const lefts: number[] = []
  let held = part
  for (const { level, left, right, isLast } of path) {
    if (left === rank) lefts.push(held)
    // A node that no rank follows needs to pass on no value.
    if (isLast) continue
    if (left !== rank) operations.send(rank, phase + level, left).add(name, held)
    else held = combineReceived(operations, rank, phase + level, right, { part, held })
  }
  const highest = phase + 2 * treeLevels(shape) - 1
  let before = -1
  for (let i = path.length - 1; i >= 0; i--) {
    const { level, left, right } = path[i]
    if (left !== rank) {
      before = to ?? operations.stage(rank)
      operations.receive(rank, highest - level, left).add(name, before)
      continue
    }
    const given = before < 0 ? lefts[i] : operations.stage(rank)
    if (before >= 0) operations.combine(rank, highest - level - 1, part, before, lefts[i], given)
    operations.send(rank, highest - level, right).add(name, given)
  }
  return before
}
