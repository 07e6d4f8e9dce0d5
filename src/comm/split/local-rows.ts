import type { CommState } from '../comm-state.js'
import type { SplitRequest } from './algorithm.js'
import { sortedByColorAndKey } from './radix.js'
import { type Rows, type RowWidth, rowWord } from './rows.js'

/** The rows of the ranks hosted here that chose a color, sorted. */
export function localRows(parent: CommState, { color, key }: SplitRequest, width: RowWidth): Rows {
  let defined = 0
  for (let i = 0; i < color.length; i++) if (color[i] !== -1) defined++
  const ascending = new Int32Array(defined)
  for (let i = 0, at = 0; i < color.length; i++) if (color[i] !== -1) ascending[at++] = i
  // Local ranks ascend, and both sorts are stable, so ties are in the order of ranks.
  const order = sortedByColorAndKey(ascending, color, key)
  const words = new Int32Array(defined * width)
  for (let i = 0, at = 0; i < defined; i++, at += width) {
    const index = order[i]!
    words[at + rowWord.color] = color[index]!
    words[at + rowWord.key] = key[index]!
    words[at + rowWord.rank] = parent.localRanks[index]!
    if (width === 4) words[at + rowWord.worldRank] = parent.worldRank(index)
  }
  return { words, width }
}
