import { distributeRuns } from './distribute.js'
import { mergeRows, type RowWidth, rowWord } from './rows.js'

/**
 * Sorts the sorted runs that lie one after the other in `words`, run k in words `[bounds[k], bounds[k + 1])`, with
 * `spare` of the same length. Returns the one of the two that holds the result.
 *
 * Three ways, whichever moves rows less often. More than four runs of evenly spread keys are dealt out once. Else merging neighbors
 * takes ceil(lg runs) passes, each of which waits for branches nobody can predict; radix sort takes one cheaper pass per
 * byte in which colors or keys differ. The latter is stable, so it needs runs whose ranks ascend from run to run: then
 * equal rows of several runs are in order already.
 */
export function sortRuns(
  width: RowWidth,
  words: Int32Array,
  bounds: readonly number[],
  spare: Int32Array,
): Int32Array {
  const edges = bounds.filter((bound, k) => k === 0 || bound > bounds[k - 1]!)
  const stages = Math.ceil(Math.log2(Math.max(1, edges.length - 1)))
  if (stages < leastStages || words.length < leastRows * width) return mergeStages(width, words, edges, spare)
  if (stages >= leastStagesToDeal && distributeRuns(width, words, edges, spare)) return spare
  const varying = varyingBits(width, words, edges)
  const passes = varying === null ? [] : bytesOfRows(varying)
  if (varying === null || passes.length > stages) return mergeStages(width, words, edges, spare)
  return radixPasses(width, words, spare, passes)
}

/** Below this many stages, or rows, merging wins, whatever the keys. */
const leastStages = 2
const leastRows = 64
/** Dealing takes as long as some three stages. */
const leastStagesToDeal = 3

/** Neighbors in pairs, stage by stage; an odd run is carried. */
function mergeStages(
  width: RowWidth,
  words: Int32Array,
  bounds: readonly number[],
  spare: Int32Array,
): Int32Array {
  let from = words
  let to = spare
  let edges = bounds
  while (edges.length > 2) {
    const next: number[] = [edges[0]!]
    for (let k = 0; k + 1 < edges.length; k += 2) {
      const start = edges[k]!
      const middle = edges[k + 1]!
      const end = edges[k + 2] ?? middle
      mergeRows(width, from, start, middle, from, middle, end, to, start)
      next.push(end)
    }
    edges = next
    const merged = to
    to = from
    from = merged
  }
  return from
}

/** Bits in which colors and keys differ; null where ranks do not ascend from run to run. */
function varyingBits(
  width: RowWidth,
  words: Int32Array,
  edges: readonly number[],
): { readonly color: number; readonly key: number } | null {
  const firstColor = words[rowWord.color]!
  const firstKey = words[rowWord.key]!
  let color = 0
  let key = 0
  let highest = -1
  for (let run = 0; run + 1 < edges.length; run++) {
    const end = edges[run + 1]!
    const below = highest
    for (let at = edges[run]!; at < end; at += width) {
      color |= words[at]! ^ firstColor
      key |= words[at + rowWord.key]! ^ firstKey
      const rank = words[at + rowWord.rank]!
      if (rank < below) return null
      if (rank > highest) highest = rank
    }
  }
  return { color, key }
}

/** One byte of a row: which word, and how far to shift it. */
interface Byte {
  readonly word: number
  readonly shift: number
}

/** The bytes that differ, least significant first. */
function bytesOfRows({ color, key }: { readonly color: number; readonly key: number }): Byte[] {
  const of = (word: number, bits: number) =>
    [0, 8, 16, 24].filter((shift) => ((bits >>> shift) & 0xff) !== 0).map((shift) => ({ word, shift }))
  return [...of(rowWord.key, key), ...of(rowWord.color, color)]
}

/** Flipped, signed numbers are in the order of unsigned ones. */
const signBit = -(2 ** 31)

function radixPasses(
  width: RowWidth,
  words: Int32Array,
  spare: Int32Array,
  passes: readonly Byte[],
): Int32Array {
  const next = new Int32Array(256)
  let from = words
  let to = spare
  for (const { word, shift } of passes) {
    next.fill(0)
    for (let at = word; at < from.length; at += width) {
      const digit = ((from[at]! ^ signBit) >>> shift) & 0xff
      next[digit] = next[digit]! + width
    }
    let start = 0
    for (let digit = 0; digit < 256; digit++) {
      const size = next[digit]!
      next[digit] = start
      start += size
    }
    for (let at = 0; at < from.length; at += width) {
      const digit = ((from[at + word]! ^ signBit) >>> shift) & 0xff
      const o = next[digit]!
      next[digit] = o + width
      to[o] = from[at]!
      to[o + 1] = from[at + 1]!
      to[o + 2] = from[at + 2]!
      if (width === 4) to[o + 3] = from[at + 3]!
    }
    const sorted = to
    to = from
    from = sorted
  }
  return from
}
