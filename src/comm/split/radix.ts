import { scratch } from './scratch.js'

const digitBits = 11
const digits = 1 << digitBits
const digitMask = digits - 1
/** So few are ordered faster by comparing than by clearing a histogram. */
const fewRanks = 256
/** So few by putting each in its place. */
const fewestRanks = 64
/** 3 digits of 11 bits hold 32. */
const passes = 3

/**
 * Orders `ranks` by signed 32-bit `value[rank]`, stable. Radix sort, least significant digit first, of values and ranks
 * side by side, so that after one gather all reading is in order; digits that are the same in all values cost nothing.
 * 8 bytes of scratch per rank, and as much again while it runs. Returns `ranks` itself where it is in order already.
 */
export function sortedByValue(ranks: Int32Array, value: Int32Array): Int32Array {
  const count = ranks.length
  let values: Int32Array = scratch('values', count)
  let isAscending = true
  let last = -(2 ** 31)
  for (let i = 0; i < count; i++) {
    const current = value[ranks[i]!]!
    values[i] = current
    if (current < last) isAscending = false
    last = current
  }
  if (isAscending) return ranks
  if (count <= fewestRanks) return insertionSorted(ranks, values)
  if (count <= fewRanks) return ranks.slice().sort((a, b) => value[a]! - value[b]!)
  const histogram = countDigits(values)
  let sorted = ranks
  let spareValues: Int32Array = new Int32Array(count)
  let spare: Int32Array = new Int32Array(count)
  for (let pass = 0; pass < passes; pass++) {
    const next = histogram.subarray(pass * digits, (pass + 1) * digits)
    if (next.includes(count)) continue
    let start = 0
    for (let digit = 0; digit < digits; digit++) {
      const size = next[digit]!
      next[digit] = start
      start += size
    }
    const shift = pass * digitBits
    for (let i = 0; i < count; i++) {
      const current = values[i]!
      const digit = ((current ^ signBit) >>> shift) & digitMask
      const at = next[digit]!
      next[digit] = at + 1
      spareValues[at] = current
      spare[at] = sorted[i]!
    }
    const swapped = values
    values = spareValues
    spareValues = swapped
    const free = sorted === ranks ? new Int32Array(count) : sorted
    sorted = spare
    spare = free
  }
  return sorted
}

/** Tables longer than this no longer fit the caches, so that sorting color by color is worth its calls. */
const longTable = 1 << 18
/** Colors of fewer ranks on average are sorted all at once: a call per color would cost more. */
const fewestPerColor = 1 << 12

/**
 * Orders ascending `ranks` by color, then key, then rank. Long tables of large colors are cut by color first and then
 * sorted color by color, each in the caches; all others by key and then, stably, by color.
 */
export function sortedByColorAndKey(ranks: Int32Array, color: Int32Array, key: Int32Array): Int32Array {
  if (ranks.length <= fewestRanks) return insertionSortedByColorAndKey(ranks, color, key)
  if (ranks.length > longTable) {
    const byColor = sortedByValue(ranks, color)
    const starts = startsOfColors(byColor, color)
    if (starts !== undefined) {
      const sorted = new Int32Array(ranks.length)
      for (let group = 0; group + 1 < starts.length; group++) {
        const start = starts[group]!
        sorted.set(sortedByValue(byColor.subarray(start, starts[group + 1]!), key), start)
      }
      return sorted
    }
  }
  return sortedByValue(sortedByValue(ranks, key), color)
}

/** Where each color starts, and the end; undefined where there are too many. */
function startsOfColors(byColor: Int32Array, color: Int32Array): number[] | undefined {
  const most = byColor.length / fewestPerColor
  const starts = [0]
  for (let i = 1, last = color[byColor[0]!]!; i < byColor.length; i++) {
    const current = color[byColor[i]!]!
    if (current === last) continue
    if (starts.push(i) > most) return undefined
    last = current
  }
  starts.push(byColor.length)
  return starts
}

function insertionSortedByColorAndKey(ranks: Int32Array, color: Int32Array, key: Int32Array): Int32Array {
  const sorted = ranks.slice()
  for (let i = 1; i < sorted.length; i++) {
    const rank = sorted[i]!
    const itsColor = color[rank]!
    const itsKey = key[rank]!
    let to = i
    for (; to > 0; to--) {
      const before = sorted[to - 1]!
      if (color[before]! < itsColor || (color[before] === itsColor && key[before]! <= itsKey)) break
      sorted[to] = before
    }
    sorted[to] = rank
  }
  return sorted
}

/** @param values of the ranks; in order afterwards */
function insertionSorted(ranks: Int32Array, values: Int32Array): Int32Array {
  const sorted = ranks.slice()
  for (let i = 1; i < sorted.length; i++) {
    const value = values[i]!
    const rank = sorted[i]!
    let to = i
    for (; to > 0 && values[to - 1]! > value; to--) {
      values[to] = values[to - 1]!
      sorted[to] = sorted[to - 1]!
    }
    values[to] = value
    sorted[to] = rank
  }
  return sorted
}

/** Flipped, signed numbers are in the order of unsigned ones. */
const signBit = -(2 ** 31)

function countDigits(values: Int32Array): Int32Array {
  const histogram = new Int32Array(passes * digits)
  for (let i = 0; i < values.length; i++) {
    const bits = values[i]! ^ signBit
    const low = bits & digitMask
    const middle = digits + ((bits >>> digitBits) & digitMask)
    const high = 2 * digits + (bits >>> (2 * digitBits))
    histogram[low] = histogram[low]! + 1
    histogram[middle] = histogram[middle]! + 1
    histogram[high] = histogram[high]! + 1
  }
  return histogram
}
