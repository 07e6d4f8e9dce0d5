/**
 * The entries of a split as rows of 32-bit words in one array: color, key and rank in the parent. The world rank is the
 * fourth word if the parent's table has no closed form here. Rows are ordered by (color, key, rank), which is strict:
 * no two rows have the same rank.
 */
export interface SplitRows {
  /** The words per row: 3, or 4 with the world rank. */
  readonly width: RowWidth
  /** The rows, `width` words each. */
  readonly words: Int32Array
}

export type RowWidth = 3 | 4

export const rowWord = { color: 0, key: 1, rank: 2, worldRank: 3 } as const

export function countRows({ words, width }: SplitRows): number {
  return words.length / width
}

/** Returns rows `from` to `to - 1`: a view. */
export function rowsBetween({ words, width }: SplitRows, from: number, to: number): Int32Array {
  return words.subarray(from * width, to * width)
}

/** Compares the rows at word `i` of `a` and word `j` of `b`: below 0 if the first comes before, 0 if they are equal. */
export function compareRows(a: Int32Array, i: number, b: Int32Array, j: number): number {
  if (a[i] !== b[j]) return a[i] < b[j] ? -1 : 1
  if (a[i + 1] !== b[j + 1]) return a[i + 1] < b[j + 1] ? -1 : 1
  return a[i + 2] - b[j + 2]
}

/** Counts the rows that come before the one at word `at` of `pivot`. O(lg rows). */
export function rowsBelow({ words, width }: SplitRows, pivot: Int32Array, at: number): number {
  const color = pivot[at]
  const key = pivot[at + 1]
  const rank = pivot[at + 2]
  let low = 0
  let high = words.length / width
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = middle * width
    const c = words[row]
    const k = words[row + 1]
    const below = c !== color ? c < color : k !== key ? k < key : words[row + 2] < rank
    if (below) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Merges the sorted rows in words `[i, iEnd)` of `a` and `[j, jEnd)` of `b` into `out` from word `o`. Returns the word
 * after the last one written. `out` may be `b` or `a` only if every word is read before it is overwritten.
 */
export function mergeRows(
  width: RowWidth,
  a: Int32Array,
  i: number,
  iEnd: number,
  b: Int32Array,
  j: number,
  jEnd: number,
  out: Int32Array,
  o: number,
): number {
  if (i < iEnd && j < jEnd) {
    let colorA = a[i]
    let keyA = a[i + 1]
    let colorB = b[j]
    let keyB = b[j + 1]
    for (;;) {
      const takesA = colorA !== colorB ? colorA < colorB : keyA !== keyB ? keyA < keyB : a[i + 2] < b[j + 2]
      if (takesA) {
        out[o] = colorA
        out[o + 1] = keyA
        out[o + 2] = a[i + 2]
        if (width === 4) out[o + 3] = a[i + 3]
        o += width
        i += width
        if (i >= iEnd) break
        colorA = a[i]
        keyA = a[i + 1]
      } else {
        out[o] = colorB
        out[o + 1] = keyB
        out[o + 2] = b[j + 2]
        if (width === 4) out[o + 3] = b[j + 3]
        o += width
        j += width
        if (j >= jEnd) break
        colorB = b[j]
        keyB = b[j + 1]
      }
    }
  }
  if (i < iEnd) {
    out.set(i === 0 && iEnd === a.length ? a : a.subarray(i, iEnd), o)
    o += iEnd - i
  }
  if (j < jEnd) {
    out.set(j === 0 && jEnd === b.length ? b : b.subarray(j, jEnd), o)
    o += jEnd - j
  }
  return o
}
