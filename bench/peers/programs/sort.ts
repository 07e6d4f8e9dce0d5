import { expectClose, type Program, type Share, sharedNumbers, shareOf, sharesOf, unit } from '../program.js'

const count = 4_000_000

/** Fills numbers with those of the input from an index on. */
function fill(numbers: Float64Array, from = 0): Float64Array {
  for (let i = 0; i < numbers.length; i++) numbers[i] = unit(from + i)
  return numbers
}

export interface Sorting extends Share {
  readonly numbers: Float64Array
}

export function sortShare({ numbers, begin, end }: Sorting): void {
  numbers.subarray(begin, end).sort()
}

/** Two sorted runs that follow each other, and where they are merged to. */
export interface Merging extends Share {
  readonly from: Float64Array
  readonly to: Float64Array
  /** Where the second run begins. */
  readonly middle: number
}

export function mergeShares({ from, to, begin, middle, end }: Merging): void {
  merge(from.subarray(begin, middle), from.subarray(middle, end), to.subarray(begin, end))
}

function merge(left: Float64Array, right: Float64Array, to: Float64Array): void {
  let i = 0
  let j = 0
  let k = 0
  while (i < left.length && j < right.length) to[k++] = left[i] <= right[j] ? left[i++] : right[j++]
  if (i < left.length) to.set(left.subarray(i), k)
  else to.set(right.subarray(j), k)
}

/** Sorted shares are merged in pairs. Threads of a pool share the numbers; ranks send them to the rank that merges. */
export const sort: Program = {
  loops: 1,
  plain() {
    const input = fill(new Float64Array(count))
    return () => input.toSorted()
  },
  inPool(pool, parts) {
    const input = fill(new Float64Array(count))
    let [from, to] = [sharedNumbers(count), sharedNumbers(count)]
    return async () => {
      from.set(input)
      let runs = sharesOf(count, parts)
      await Promise.all(runs.map((run) => pool.run('sortShare', { numbers: from, ...run })))
      while (runs.length > 1) {
        const pairs = Array.from({ length: runs.length >> 1 }, (_, pair) => ({
          begin: runs[2 * pair].begin,
          middle: runs[2 * pair].end,
          end: runs[2 * pair + 1].end,
        }))
        await Promise.all(pairs.map((pair) => pool.run('mergeShares', { from, to, ...pair })))
        runs = pairs
        ;[from, to] = [to, from]
      }
      return from
    }
  },
  async onRanks(world) {
    const { rank, size } = world
    const { begin, end } = shareOf(count, rank, size)
    const input = fill(new Float64Array(end - begin), begin)
    const numbers = world.alloc(Float64Array, end - begin)
    // A rank that merges runs of its own and of other ranks has memory for the result, and for what arrives.
    const merges = Array.from({ length: Math.log2(size) }, (_, level) => 2 ** level)
      .filter((distance) => rank % (2 * distance) === 0)
      .map((distance) => {
        const middle = shareOf(count, rank + distance, size).begin
        const last = shareOf(count, rank + 2 * distance - 1, size).end
        return {
          from: rank + distance,
          other: world.alloc(Float64Array, last - middle),
          merged: world.alloc(Float64Array, last - begin),
        }
      })
    const parent = rank - (rank & -rank)
    return async () => {
      numbers.set(input)
      let run = numbers.sort()
      for (const { from, other, merged } of merges) {
        await world.recv(from, 0, { into: other })
        merge(run, other, merged)
        run = merged
      }
      if (rank === 0) return run
      await world.send(run, parent)
      return null
    }
  },
  check(result) {
    let sum = 0
    for (let i = 1; i < count; i++) {
      if (result[i - 1] > result[i]) throw new Error(`wrong result: ${result[i - 1]} before ${result[i]}`)
      sum += result[i]
    }
    const input = fill(new Float64Array(count)).reduce((all, each) => all + each)
    expectClose([sum + result[0], result.length], [input, count], 1e-9)
  },
}
