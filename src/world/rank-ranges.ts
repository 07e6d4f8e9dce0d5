/** Ascending ranks as the first and last of each run, alternating. */
export type Ranges = readonly number[]

export class RangeList {
  readonly #ranges: number[] = []

  get ranges(): Ranges {
    return this.#ranges
  }

  add(rank: number): void {
    this.addRun(rank, rank)
  }

  /** Adds a run; `first` is beyond everything that was added before. */
  addRun(first: number, last: number): void {
    const ranges = this.#ranges
    const end = ranges.length - 1
    if (end > 0 && ranges[end] === first - 1) ranges[end] = last
    else ranges.push(first, last)
  }
}

export function countOf(ranges: Ranges): number {
  let count = 0
  for (let i = 0; i < ranges.length; i += 2) count += ranges[i + 1] - ranges[i] + 1
  return count
}

/** Returns the ranks of disjoint lists. */
export function union(lists: readonly Ranges[]): Ranges {
  const runs: (readonly [first: number, last: number])[] = []
  for (const ranges of lists) for (let i = 0; i < ranges.length; i += 2) runs.push([ranges[i], ranges[i + 1]])
  runs.sort(([a], [b]) => a - b)
  const all = new RangeList()
  for (const [first, last] of runs) all.addRun(first, last)
  return all.ranges
}

/** Returns the distance of at least four single ranks that are equally far apart; otherwise 0. */
function strideOf(ranges: Ranges): number {
  const stride = ranges.length < 8 ? 0 : ranges[2] - ranges[0]
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i] !== ranges[i + 1] || (i > 0 && ranges[i] - ranges[i - 2] !== stride)) return 0
  }
  return stride
}

/** The most runs that are named; of the others only the number of ranks is given. */
const mostRuns = 8

/** Returns `rank 3`, or `ranks 0-3, 7`. */
export function rangesText(ranges: Ranges): string {
  const stride = strideOf(ranges)
  if (stride > 0) return `ranks ${ranges[0]}-${ranges.at(-1)} by ${stride}`
  const parts: string[] = []
  const shown = ranges.slice(0, 2 * mostRuns)
  for (let i = 0; i < shown.length; i += 2) {
    parts.push(shown[i] === shown[i + 1] ? `${shown[i]}` : `${shown[i]}-${shown[i + 1]}`)
  }
  const more = countOf(ranges) - countOf(shown)
  if (more > 0) parts.push(`${more} more`)
  return `${ranges.length === 2 && ranges[0] === ranges[1] ? 'rank' : 'ranks'} ${parts.join(', ')}`
}
