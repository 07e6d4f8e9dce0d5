import fc from 'fast-check'

/** Colors and keys of a split by rank; color -1 for none. */
export interface SplitCase {
  readonly color: Int32Array
  readonly key: Int32Array
}

type Pattern = (rank: number, ranks: number, draw: () => number) => number

const highest = 2 ** 31 - 1

/** Nine ways to color: what each stresses is in its name. */
export const colorPatterns: Readonly<Record<string, Pattern>> = {
  one: () => 7,
  everyOwn: (rank) => rank,
  everyOwnReversed: (rank, ranks) => ranks - rank,
  evenOdd: (rank) => rank % 2,
  blocks: (rank, ranks) => Math.floor((rank * 3) / ranks),
  fewRandom: (_rank, _ranks, draw) => Math.floor(draw() * 4),
  manyRandom: (_rank, ranks, draw) => Math.floor(draw() * ranks),
  someUndefined: (rank, _ranks, draw) => (draw() < 0.4 ? -1 : rank % 3),
  oneDefined: (rank, ranks) => (rank === Math.floor(ranks / 2) ? highest : -1),
  none: () => -1,
  largeAndSmall: (rank, ranks) => (rank < (2 * ranks) / 3 ? 5 : 6 + rank),
}

export const keyPatterns: Readonly<Record<string, Pattern>> = {
  equal: () => 0,
  rank: (rank) => rank,
  reversed: (rank) => -rank,
  extremes: (rank) => (rank % 2 === 0 ? -(2 ** 31) : highest),
  modulo: (rank, ranks) => rank % Math.max(1, Math.floor(Math.sqrt(ranks))),
  random: (_rank, _ranks, draw) => Math.floor((draw() - 0.5) * 2 ** 32),
}

export function splitCase(ranks: number, colors: Pattern, keys: Pattern, draw: () => number): SplitCase {
  const ranksUp = Array.from({ length: ranks }, (_, rank) => rank)
  return {
    color: Int32Array.from(ranksUp, (rank) => colors(rank, ranks, draw)),
    key: Int32Array.from(ranksUp, (rank) => keys(rank, ranks, draw)),
  }
}

/**
 * Straight from MPI's words: group by color, order by key, ties by rank. Ranks of every communicator, in
 * order.
 */
export function expectedGroups({ color, key }: SplitCase): number[][] {
  const colors = [...new Set(color)].filter((c) => c >= 0).sort((a, b) => a - b)
  return colors.map((wanted) =>
    [...color.keys()].filter((rank) => color[rank] === wanted).sort((a, b) => key[a] - key[b] || a - b),
  )
}

/**
 * Ranks n <= 200 on processes, sorters p <= 24, processes that share a table P' <= processes, a seed for
 * everything else.
 */
export interface SplitLayout {
  readonly ranks: number
  readonly processes: number
  readonly sorters: number
  readonly tableGroup: number
  readonly seed: number
}

/** Every process has a rank, in many cases just one. */
export const splitLayouts: fc.Arbitrary<SplitLayout> = fc
  .oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 40 }) },
    { weight: 1, arbitrary: fc.integer({ min: 41, max: 200 }) },
  )
  .chain((ranks) =>
    fc.record({
      ranks: fc.constant(ranks),
      processes: fc.oneof(
        fc.integer({ min: 1, max: Math.min(ranks, 24) }),
        fc.integer({ min: 1, max: ranks }),
        fc.constant(ranks),
      ),
    }),
  )
  .chain(({ ranks, processes }) =>
    fc.record({
      ranks: fc.constant(ranks),
      processes: fc.constant(processes),
      sorters: fc.integer({ min: 1, max: Math.min(processes, 24) }),
      tableGroup: fc.oneof(fc.integer({ min: 1, max: processes }), fc.constant(processes)),
      seed: fc.nat(),
    }),
  )
