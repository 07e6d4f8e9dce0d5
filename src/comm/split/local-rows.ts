import type { CommState } from '../comm-state.js'
import type { SplitRequest } from './algorithm.js'
import { type Rows, type RowWidth, rowWord } from './rows.js'
import { sortRows } from './sort-rows.js'

/** The rows of the ranks hosted here that chose a color, sorted. */
export function localRows(parent: CommState, { color, key }: SplitRequest, width: RowWidth): Rows {
  let rows = 0
  for (let i = 0; i < color.length; i++) if (color[i] !== -1) rows++
  const words = new Int32Array(rows * width)
  for (let i = 0, at = 0; i < color.length; i++) {
    if (color[i] === -1) continue
    words[at + rowWord.color] = color[i]!
    words[at + rowWord.key] = key[i]!
    words[at + rowWord.rank] = parent.localRanks[i]!
    if (width === 4) words[at + rowWord.worldRank] = parent.worldRank(i)
    at += width
  }
  // Local ranks ascend, and the sort is stable, so ties are in the order of ranks.
  return { words: sortRows(width, words, new Int32Array(words.length)), width }
}
