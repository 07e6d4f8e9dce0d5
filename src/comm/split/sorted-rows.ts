import type { Rows } from './rows.js'
import { sortRows } from './sort-rows.js'

/** Rows in any order, sorted by color, key and rank. */
export function sortedRows({ words, width }: Rows): Rows {
  return { words: sortRows(width, words.slice(), new Int32Array(words.length), 3), width }
}
