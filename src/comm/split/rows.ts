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

/** The number of words that rows are ordered by: color and key, or rank as well. */
type LeadingWords = 2 | 3

/**
 * Sorts rows by their first `leading` words, as signed numbers; the sort is stable. It is a radix sort that skips bits
 * in which all rows agree. Many rows are cut into parts by their highest bits first, so that each part is then sorted,
 * lowest bits first, in the cache. O(rows) time.
 *
 * @param spare as long as `words`; its contents are undefined afterwards
 * @returns `words`
 */
export function sortRows(
  width: RowWidth,
  words: Int32Array,
  spare: Int32Array,
  leading: LeadingWords = 2,
): Int32Array {
  if (areInOrder(width, words, leading)) return words
  sortPart({ width, leading }, words, spare, 0, words.length, false)
  return words
}

/** Returns the number of times that {@link sortRows} moves each row, at most. */
export function movesOf(width: RowWidth, words: Int32Array, leading: LeadingWords = 2): number {
  return digitsOf(spreadsOf({ width, leading }, words, 0, words.length), leading, bitsForFew).length
}

interface Order {
  readonly width: RowWidth
  readonly leading: LeadingWords
}

/** The bits `shift` to `shift + bits - 1` of the difference between a row's word and the least one. */
interface Digit {
  readonly word: number
  readonly least: number
  readonly shift: number
  readonly bits: number
}

/** The most rows that are sorted by insertion. */
const fewRows = 24
/**
 * The number of rows that fit in the cache together with their destination; larger parts are cut into parts of half as
 * many.
 */
const cachedRows = 1 << 14
const partRows = cachedRows / 2
/** The most bits of a digit. Counters grow with their power of two, so there are fewer bits for few rows. */
const mostBits = 11
const bitsForFew = 8
const manyRows = 1 << 12

/** Sorts words `start` to `end - 1` of `from`; the result is there or, if `moves`, at the same place of `to`. */
function sortPart(
  order: Order,
  from: Int32Array,
  to: Int32Array,
  start: number,
  end: number,
  moves: boolean,
): void {
  const { width } = order
  const rows = (end - start) / width
  if (rows <= fewRows) {
    insertRows(order, from, start, end)
    if (moves) copy(from, to, start, end)
    return
  }
  const spreads = spreadsOf(order, from, start, end)
  const digits = digitsOf(spreads, order.leading, rows < manyRows ? bitsForFew : mostBits)
  if (rows > cachedRows && digits.length > 1) {
    const cut = highestDigit(spreads, Math.ceil(Math.log2(rows / partRows)))
    const ends = new Int32Array(1 << cut.bits)
    scatterByDigit(width, cut, from, to, start, end, ends)
    for (let part = 0, at = start; part < ends.length; part++) {
      const next = ends[part]
      if (next > at) sortPart(order, to, from, at, next, !moves)
      at = next
    }
    return
  }
  let source = from
  let target = to
  for (const digit of digits) {
    scatterByDigit(width, digit, source, target, start, end, counters)
    const free = source
    source = target
    target = free
  }
  if (source !== (moves ? to : from)) copy(source, target, start, end)
}

const counters = new Int32Array(1 << mostBits)

/** Moves rows from `from` to `to` by one digit, stably; afterwards `next` has the end of each of its values. */
function scatterByDigit(
  width: RowWidth,
  digit: Digit,
  from: Int32Array,
  to: Int32Array,
  start: number,
  end: number,
  next: Int32Array,
): void {
  const values = 1 << digit.bits
  // `fill` takes ten times as long.
  for (let value = 0; value < values; value++) next[value] = 0
  count(width, digit, from, start, end, next)
  accumulate(next, values, start)
  scatterRows(width, digit, from, to, start, end, next)
}

// Loops move four rows per iteration: the engine checks each array's kind and length once per iteration, which takes as
// long as moving a row. They are unrolled by hand, since whether the engine inlines a function depends on when it
// compiles which. Each loop is a separate function, so that it is compiled separately.

function count(
  width: RowWidth,
  { word, least, shift, bits }: Digit,
  from: Int32Array,
  start: number,
  end: number,
  next: Int32Array,
): void {
  const mask = (1 << bits) - 1
  let at = start + word
  for (; at + 3 * width < end; at += width) {
    const a = ((from[at] - least) >> shift) & mask
    next[a] = next[a] + width
    at += width
    const b = ((from[at] - least) >> shift) & mask
    next[b] = next[b] + width
    at += width
    const c = ((from[at] - least) >> shift) & mask
    next[c] = next[c] + width
    at += width
    const d = ((from[at] - least) >> shift) & mask
    next[d] = next[d] + width
  }
  for (; at < end; at += width) {
    const value = ((from[at] - least) >> shift) & mask
    next[value] = next[value] + width
  }
}

/** Turns the number of words of each value into its start. */
function accumulate(next: Int32Array, values: number, start: number): void {
  for (let value = 0, sum = start; value < values; value++) {
    const size = next[value]
    next[value] = sum
    sum += size
  }
}

function scatterRows(
  width: RowWidth,
  { word, least, shift, bits }: Digit,
  from: Int32Array,
  to: Int32Array,
  start: number,
  end: number,
  next: Int32Array,
): void {
  const mask = (1 << bits) - 1
  let at = start
  for (; at + 3 * width < end; at += width) {
    const a = ((from[at + word] - least) >> shift) & mask
    const toA = next[a]
    next[a] = toA + width
    to[toA] = from[at]
    to[toA + 1] = from[at + 1]
    to[toA + 2] = from[at + 2]
    if (width === 4) to[toA + 3] = from[at + 3]
    at += width
    const b = ((from[at + word] - least) >> shift) & mask
    const toB = next[b]
    next[b] = toB + width
    to[toB] = from[at]
    to[toB + 1] = from[at + 1]
    to[toB + 2] = from[at + 2]
    if (width === 4) to[toB + 3] = from[at + 3]
    at += width
    const c = ((from[at + word] - least) >> shift) & mask
    const toC = next[c]
    next[c] = toC + width
    to[toC] = from[at]
    to[toC + 1] = from[at + 1]
    to[toC + 2] = from[at + 2]
    if (width === 4) to[toC + 3] = from[at + 3]
    at += width
    const d = ((from[at + word] - least) >> shift) & mask
    const toD = next[d]
    next[d] = toD + width
    to[toD] = from[at]
    to[toD + 1] = from[at + 1]
    to[toD + 2] = from[at + 2]
    if (width === 4) to[toD + 3] = from[at + 3]
  }
  for (; at < end; at += width) {
    const value = ((from[at + word] - least) >> shift) & mask
    const o = next[value]
    next[value] = o + width
    to[o] = from[at]
    to[o + 1] = from[at + 1]
    to[o + 2] = from[at + 2]
    if (width === 4) to[o + 3] = from[at + 3]
  }
}

/** Returns all digits of the leading words, from the lowest of the last to the highest of the first. */
function digitsOf(spreads: readonly Spread[], leading: LeadingWords, most: number): Digit[] {
  const digits: Digit[] = []
  for (let word = leading - 1; word >= 0; word--) {
    const { least, lowest, end } = spreads[word]
    let pieces = Math.ceil((end - lowest) / most)
    for (let shift = lowest; pieces > 0; pieces--) {
      const bits = Math.ceil((end - shift) / pieces)
      digits.push({ word, least, shift, bits })
      shift += bits
    }
  }
  return digits
}

/** Returns the highest bits, `most` or fewer, of the first word that varies. */
function highestDigit(spreads: readonly Spread[], most: number): Digit {
  const word = spreads.findIndex(({ lowest, end }) => lowest < end)
  const { least, lowest, end } = spreads[word]
  const bits = Math.min(end - lowest, most, mostBits)
  return { word, least, shift: end - bits, bits }
}

/** The spread of one word of several rows: bits `lowest` to `end - 1` of `value - least` tell the rows apart. */
interface Spread {
  readonly least: number
  readonly lowest: number
  readonly end: number
}

function spreadsOf({ width, leading }: Order, words: Int32Array, start: number, end: number): Spread[] {
  const spreads: Spread[] = []
  for (let word = 0; word < leading; word++) spreads.push(spreadOf(width, words, start + word, end))
  return spreads
}

function spreadOf(width: RowWidth, words: Int32Array, start: number, end: number): Spread {
  const first = words[start]
  let least = first
  let greatest = first
  let varying = 0
  for (let at = start; at < end; at += width) {
    const value = words[at]
    varying |= value ^ first
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
  if (least === greatest) return { least, lowest: 0, end: 0 }
  return { least, lowest: 31 - Math.clz32(varying & -varying), end: 32 - Math.clz32(greatest - least) }
}

function areInOrder(width: RowWidth, words: Int32Array, leading: LeadingWords): boolean {
  for (let at = width; at < words.length; at += width) {
    if (isBelow(words, at, words, at - width, leading)) return false
  }
  return true
}

function isBelow(a: Int32Array, i: number, b: Int32Array, j: number, leading: LeadingWords): boolean {
  if (a[i] !== b[j]) return a[i] < b[j]
  if (a[i + 1] !== b[j + 1]) return a[i + 1] < b[j + 1]
  return leading === 3 && a[i + 2] < b[j + 2]
}

/** Sorts words `start` to `end - 1` by insertion, for few rows or rows nearly in order. */
export function insertRows({ width, leading }: Order, words: Int32Array, start: number, end: number): void {
  for (let at = start + width; at < end; at += width) {
    const color = words[at]
    const key = words[at + 1]
    const rank = words[at + 2]
    const worldRank = width === 4 ? words[at + 3] : 0
    let to = at
    for (; to > start; to -= width) {
      const before = to - width
      const colorBefore = words[before]
      const keyBefore = words[before + 1]
      const isInOrder =
        colorBefore !== color
          ? colorBefore < color
          : keyBefore !== key
            ? keyBefore < key
            : leading === 2 || words[before + 2] <= rank
      if (isInOrder) break
      words[to] = colorBefore
      words[to + 1] = keyBefore
      words[to + 2] = words[before + 2]
      if (width === 4) words[to + 3] = words[before + 3]
    }
    if (to === at) continue
    words[to] = color
    words[to + 1] = key
    words[to + 2] = rank
    if (width === 4) words[to + 3] = worldRank
  }
}

function copy(from: Int32Array, to: Int32Array, start: number, end: number): void {
  if (end - start < 64) for (let at = start; at < end; at++) to[at] = from[at]
  else to.set(from.subarray(start, end), start)
}
