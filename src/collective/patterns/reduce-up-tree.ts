import { partialResult } from '../../schedule/ir.js'
import type { Shape } from './algorithm.js'
import type { RankOperations } from './rank-operations.js'
import { treePath } from './rank-tree.js'
import { combineReceived } from './values.js'

/**
 * Emits the operations of a rank in the reduction of one part, of at least two ranks, up the tree: the node of level l
 * in phase `phase + l`. The total is stored in the root's slot for the part.
 */
export function reduceUpTree(
  operations: RankOperations,
  shape: Shape,
  rank: number,
  { part, phase, root }: { readonly part: number; readonly phase: number; readonly root: number },
): void {
  let held = part
  for (const { level, left, right, owner, isFirst, isLast } of treePath(shape, rank, root)) {
    if (owner !== rank) {
      operations.send(rank, phase + level, owner).add(partialResult(part), held)
      return
    }
    const other = left === rank ? right : left
    const to = isFirst && isLast ? operations.slot(rank, part) : undefined
    held = combineReceived(operations, rank, phase + level, other, { part, held, to })
  }
}
