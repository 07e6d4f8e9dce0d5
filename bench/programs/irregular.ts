// Colors and keys of a split without a pattern: random color, random key, every twentieth rank without a
// color. The same numbers as `irregular` in baselines/split.cpp.

/** Color (-1 for none) and key of every rank. */
export interface ColorsAndKeys {
  readonly color: Int32Array
  readonly key: Int32Array
}

/** New rank and size of the communicator of every rank; -1 and 0 without a color. */
export interface Places {
  readonly rank: Int32Array
  readonly size: Int32Array
}

const undefinedOneIn = 20

/** @param colors 1: one communicator of all ranks, and no rank without a color */
export function colorsAndKeys(ranks: number, colors: number): ColorsAndKeys {
  let state = 12345
  const draw = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  const color = new Int32Array(ranks)
  const key = new Int32Array(ranks)
  for (let rank = 0; rank < ranks; rank++) {
    const isDefined = draw() % undefinedOneIn !== 0 || colors === 1
    const drawn = draw() % colors
    color[rank] = isDefined ? drawn : -1
    key[rank] = draw() | 0
  }
  return { color, key }
}

/** By the definition, for at most 2^22 ranks and 2^10 colors; shares no code with the splits. */
export function placesOf({ color, key }: ColorsAndKeys): Places {
  const ranks = color.length
  const entries = new BigUint64Array(ranks)
  let count = 0
  for (let rank = 0; rank < ranks; rank++) {
    if (color[rank] < 0) continue
    // 10 bits of color, 32 of key, 22 of rank.
    const high = BigInt(color[rank] * 2 ** 32 + (key[rank] + 2 ** 31))
    entries[count++] = (high << 22n) | BigInt(rank)
  }
  const order = entries.subarray(0, count).sort()
  const places = { rank: new Int32Array(ranks).fill(-1), size: new Int32Array(ranks) }
  for (let from = 0, to = 0; from < count; from = to) {
    const ofColor = order[from] >> 54n
    for (to = from; to < count && order[to] >> 54n === ofColor; to++) {
      places.rank[Number(order[to] & 0x3fffffn)] = to - from
    }
    for (let i = from; i < to; i++) places.size[Number(order[i] & 0x3fffffn)] = to - from
  }
  return places
}

/** A number that two splits share if they are equal. */
export function digestOf(rank: number, { rank: newRank, size }: { rank: number; size: number }): number {
  return (newRank + 1) * ((rank % 89) + 1) + size
}
