import type { Communicator } from '../handles/communicator.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import { ranksOf } from './collective-oracles.js'
import type { FormCase, FormCases, NamesWithForms } from './forms.js'

/** Every collective call; one that is missing does not compile. */
type CollectiveForms = Readonly<Record<NamesWithForms<Communicator>, readonly FormCase[]>>

/** Returns element i of a rank's contribution in a round. */
const term = (rank: number, i: number, round: number) => rank * 31 + i + round
/** Returns the sum of these over the ranks below `ranks`. */
const sum = (ranks: number, i: number, round: number) => (31 * ranks * (ranks - 1)) / 2 + ranks * (i + round)

/** Returns the elements of a rank's block if blocks vary; some have none. */
const lengthOf = (rank: number) => (rank + 1) % 3
const sumOf = (count: number, at: (i: number) => number) => {
  let total = 0
  for (let i = 0; i < count; i++) total += at(i)
  return total
}

/** Returns element i of a result in a round. */
type At = (i: number, round: number) => number

interface Layout {
  readonly place?: number
  /** The number of elements that are filled. Default: all. */
  readonly count?: number
  /** The lengths of the blocks of a result of varying blocks. */
  readonly counts?: readonly number[]
}

/** The value of array elements that nothing has filled. */
const untouched = -1

const put = (array: TypedArray, i: number, value: number) => {
  if (array instanceof BigInt64Array || array instanceof BigUint64Array) array[i] = BigInt(value)
  else array[i] = value
}

const room = (count: number, type: new (length: number) => TypedArray = Int32Array) => {
  const array = new type(count)
  for (let i = 0; i < count; i++) put(array, i, untouched)
  return array
}

/**
 * Returns the cases of one rank on its own arrays, which `fill` fills with the data of a round.
 *
 * @param length elements of equal blocks, and of the arrays of reductions and of a bcast; at least 3, or 1 for one rank
 */
export function collectiveForms(comm: Communicator, length: number): FormCases {
  const { rank, size } = comm
  const mine = new Int32Array(length)
  const doubles = new Float64Array(length)
  const bigints = new BigInt64Array(length)
  const shorts = new Int16Array(length)
  const single = new Float32Array(1)
  const all = new Int32Array(length * size)
  const bytes = new Int8Array(length * size)
  const varying = new Int16Array(lengthOf(rank))
  const sent: readonly TypedArray[] = [mine, doubles, bigints, shorts, single, all, bytes, varying]
  const counts = Array.from(ranksOf(comm), lengthOf)
  const sumOfCounts = sumOf(size, lengthOf)
  const before = (r: number) => sumOf(r, lengthOf)
  /** The displacements put blocks in the order of descending ranks. */
  const displs = Array.from(ranksOf(comm), (r) => sumOfCounts - before(r + 1))
  const pair = (src: number, dest: number) => (src + dest) % 3
  const pairs = Array.from(ranksOf(comm), (dest) => pair(rank, dest))
  const pairsTo = Array.from(ranksOf(comm), (src) => pair(src, rank))
  const received = sumOf(size, (src) => pair(src, rank))
  /** The uneven blocks of a reduction: the first takes what the others leave. */
  const shares = counts.with(0, length * size - (sumOfCounts - counts[0]))
  const shareStart = sumOf(rank, (r) => shares[r])

  /**
   * Returns a case by the arguments of its call, to which an init adds the array that it fills.
   *
   * @param into null if the rank gets nothing
   * @param at elements of the result
   * @param place of `into` among the arguments of the init
   */
  const filling = (
    into: TypedArray | null,
    call: readonly unknown[],
    at: At,
    { place = 1, count = into?.length ?? 0, counts }: Layout = {},
  ): FormCase => {
    const initial = into?.slice() ?? null
    const filledTo = (end: number | undefined, round: number) => {
      const result = initial?.slice(0, end) ?? null
      for (let i = 0; result !== null && i < count; i++) put(result, i, at(i, round))
      return result
    }
    return {
      call,
      init: call.toSpliced(place, 0, into),
      filled: into,
      expected: (round) => filledTo(count, round),
      holds: (round) => filledTo(undefined, round),
      ...(counts === undefined ? {} : { counts }),
    }
  }
  /** Returns a case for the last rank as the root, and one for a rank between the first and the last. */
  const rooted = (form: (root: number, atRoot: <T>(value: T) => T | null) => FormCase) =>
    [...new Set([size - 1, size >> 1])].map((root) => form(root, (value) => (rank === root ? value : null)))

  /** Returns the element at a place of a concatenation of varying blocks, as its rank passed it. */
  const varied: At = (i, round) => {
    let src = 0
    while (i >= before(src + 1)) src++
    return term(src, i - before(src), round)
  }
  const reversed: At = (i, round) => {
    let src = 0
    while (i < displs[src] || i >= displs[src] + counts[src]) src++
    return term(src, i - displs[src], round)
  }
  const traded: At = (i, round) => {
    let [src, at] = [0, i]
    while (at >= pair(src, rank)) at -= pair(src++, rank)
    const source = src
    return term(source, sumOf(rank, (dest) => pair(source, dest)) + at, round)
  }
  const gathered: At = (i, round) => term(Math.floor(i / length), i % length, round)
  const exchanged: At = (i, round) => term(Math.floor(i / length), length * rank + (i % length), round)
  const total: At = (i, round) => sum(size, i, round)
  const xored: At = (i, round) =>
    ranksOf(comm).reduce((bits, src) => bits ^ term(src, shareStart + i, round), 0)
  const tree = { algorithm: 'allreduce-tree' }
  const pairwise = { algorithm: 'alltoall-pairwise' }
  const bruck = { algorithm: 'alltoall-bruck' }

  const cases: CollectiveForms = {
    barrier: [{ call: [], init: [], filled: null, expected: () => null }],
    bcast: rooted((root, atRoot) => {
      const into = atRoot(mine) ?? room(length)
      const form = filling(into, [atRoot(mine), root], (i, round) => term(root, i, round))
      return { ...form, init: [into, root] }
    }),
    reduce: rooted((root, atRoot) => filling(atRoot(room(length)), [mine, 'sum', root], total)),
    allreduce: [
      filling(room(length), [mine, 'sum'], total),
      filling(room(length + 1), [mine, 'sum'], total, { count: length }),
      filling(room(length, Float64Array), [doubles, 'sum', tree], total),
      filling(room(1, Float32Array), [single, 'max'], (i, round) => term(size - 1, i, round)),
    ],
    gather: rooted((root, atRoot) => filling(atRoot(room(length * size)), [mine, root], gathered)),
    gatherv: rooted((root, atRoot) =>
      filling(atRoot(room(sumOfCounts, Int16Array)), [varying, root, { counts }], varied, { counts }),
    ),
    scatter: rooted((root, atRoot) =>
      filling(room(length), [atRoot(all), root], (i, round) => term(root, length * rank + i, round)),
    ),
    scatterv: rooted((root, atRoot) =>
      filling(
        room(3, Int8Array),
        [atRoot(bytes), atRoot(counts), root],
        (i, round) => term(root, before(rank) + i, round),
        { place: 2, count: lengthOf(rank) },
      ),
    ),
    allgather: [
      filling(room(length * size), [mine], gathered),
      filling(room(length * size + 1, Int16Array), [shorts], gathered, { count: length * size }),
    ],
    allgatherv: [
      filling(room(sumOfCounts, Int16Array), [varying], varied, { counts }),
      filling(room(sumOfCounts + 2, Int16Array), [varying, { displs }], reversed, {
        count: sumOfCounts,
        counts,
      }),
    ],
    alltoall: [
      filling(room(length * size), [all], exchanged),
      filling(room(length * size, Int8Array), [bytes, pairwise], exchanged),
    ],
    alltoallv: [
      filling(room(received), [all, pairs], traded, { place: 2, counts: pairsTo }),
      filling(room(received, Int8Array), [bytes, pairs, bruck], traded, { place: 2, counts: pairsTo }),
    ],
    reduceScatter: [
      filling(room(length), [all, 'sum'], (i, round) => sum(size, length * rank + i, round)),
      filling(room(shares[0]), [all, 'bxor', { counts: shares }], xored, { count: shares[rank] }),
    ],
    scan: [
      filling(room(length), [mine, 'sum'], (i, round) => sum(rank + 1, i, round)),
      filling(room(length, BigInt64Array), [bigints, 'sum'], (i, round) => sum(rank + 1, i, round)),
    ],
    exscan: [
      {
        ...filling(room(length), [mine, 'sum'], (i, round) => sum(rank, i, round), {
          count: rank === 0 ? 0 : length,
        }),
        ...(rank === 0 ? { expected: () => null } : {}),
      },
    ],
  }
  return {
    cases,
    fill(round) {
      for (const array of sent) for (let i = 0; i < array.length; i++) put(array, i, term(rank, i, round))
    },
  }
}
