import { type RowWidth, rowWord, type SplitRows } from './sort/rows.js'
import { sortRows } from './sort/sort-rows.js'
import type { SplitCall } from './split-call.js'

/** Returns the rows of the ranks hosted here that chose a color, sorted or by rank. The meter counts them as held. */
export function localRows({ parent, request, meter }: SplitCall, width: RowWidth, sorted = true): SplitRows {
  const { color, key } = request
  let rows = 0
  for (let i = 0; i < color.length; i++) if (color[i] !== -1) rows++
  const words = new Int32Array(rows * width)
  meter.hold(words)
  for (let i = 0, at = 0; i < color.length; i++) {
    if (color[i] === -1) continue
    words[at + rowWord.color] = color[i]
    words[at + rowWord.key] = key[i]
    words[at + rowWord.rank] = parent.localRanks[i]
    if (width === 4) words[at + rowWord.worldRank] = parent.worldRank(i)
    at += width
  }
  if (!sorted) return { words, width }
  const spare = new Int32Array(words.length)
  meter.hold(spare)
  // Local ranks ascend and the sort is stable, so ties are in rank order.
  sortRows(width, words, spare)
  meter.hold(null, spare)
  return { words, width }
}
