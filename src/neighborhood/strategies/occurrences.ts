import { rowStarts } from '../../topology/compressed-rows.js'

/** For every rank its positions in a list, ascending, as compressed rows. */
export interface Occurrences {
  /** Length `ranks + 1`. */
  readonly start: Int32Array
  readonly position: Int32Array
}

export function occurrencesOf(list: Int32Array, ranks: number): Occurrences {
  const start = rowStarts(ranks, list)
  const next = start.slice(0, ranks)
  const position = new Int32Array(list.length)
  for (let i = 0; i < list.length; i++) position[next[list[i]]++] = i
  return { start, position }
}

/** The row of every entry of compressed rows. */
export function rowOfEntries(start: Int32Array): Int32Array {
  const row = new Int32Array(start[start.length - 1])
  for (let r = 0; r + 1 < start.length; r++) row.fill(r, start[r], start[r + 1])
  return row
}
