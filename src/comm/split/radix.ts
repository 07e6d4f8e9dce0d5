/**
 * Orders `ranks` by signed 32-bit `value[rank]`, stable: radix sort, least significant byte first. A byte that is the
 * same in all values costs one scan, so small colors and keys cost little.
 */
export function sortedByValue(ranks: Int32Array, value: Int32Array): Int32Array {
  let differing = 0
  let ascending = true
  for (let i = 1; i < ranks.length; i++) {
    const a = value[ranks[i - 1]!]!
    const b = value[ranks[i]!]!
    differing |= a ^ b
    if (a > b) ascending = false
  }
  if (ascending) return ranks
  let from: Int32Array = ranks
  let to: Int32Array = new Int32Array(ranks.length)
  const next = new Int32Array(257)
  for (let shift = 0; shift < 32; shift += 8) {
    if (((differing >>> shift) & 0xff) === 0) continue
    // The sign bit flipped: negative values come first.
    const flip = shift === 24 ? 0x80 : 0
    next.fill(0)
    for (let i = 0; i < from.length; i++) {
      const digit = ((value[from[i]!]! >>> shift) & 0xff) ^ flip
      next[digit + 1] = next[digit + 1]! + 1
    }
    for (let digit = 0; digit < 256; digit++) next[digit + 1] = next[digit + 1]! + next[digit]!
    for (let i = 0; i < from.length; i++) {
      const rank = from[i]!
      const digit = ((value[rank]! >>> shift) & 0xff) ^ flip
      to[next[digit]!] = rank
      next[digit] = next[digit]! + 1
    }
    const sorted = to
    to = from === ranks ? new Int32Array(ranks.length) : from
    from = sorted
  }
  return from
}
