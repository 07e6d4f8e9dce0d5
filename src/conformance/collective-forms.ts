import type { CollectiveCalls } from '../comm/collective-calls.js'
import type { Communicator } from '../comm/communicator.js'
import { ranksOf } from './collective-oracles.js'
import type { FormCase, FormCases } from './forms.js'

/** Every collective call; one that is missing does not compile. */
type CollectiveForms = Readonly<Record<keyof CollectiveCalls<'blocking'>, readonly FormCase[]>>

/** Element i of what a rank passes in a round. */
const term = (rank: number, i: number, round: number) => rank * 31 + i + round
/** The sum of these over the ranks below `ranks`. */
const sum = (ranks: number, i: number, round: number) => (31 * ranks * (ranks - 1)) / 2 + ranks * (i + round)

/** Elements of a rank's block where blocks vary; some have none. */
const lengthOf = (rank: number) => (rank + 1) % 3
const sumOf = (count: number, at: (i: number) => number) => {
  let total = 0
  for (let i = 0; i < count; i++) total += at(i)
  return total
}

type Numbers = Int32Array | Float32Array | Float64Array

/** Element i of a result in a round. */
type At = (i: number, round: number) => number

interface Layout {
  readonly place?: number
  /** Elements that are filled. Default: all. */
  readonly count?: number
  /** Of the blocks of a result of varying blocks. */
  readonly counts?: readonly number[]
}

/** Elements of an equal block. */
const few = 3

/**
 * The cases of one rank on its own arrays, which `fill` fills with the data of a round.
 *
 * @param length elements of the arrays of reductions and of a bcast
 */
export function collectiveForms(comm: Communicator, length: number): FormCases {
  const { rank, size } = comm
  const root = size - 1
  const isRoot = rank === root
  const mine = new Int32Array(length)
  const doubles = new Float64Array(length)
  const single = new Float32Array(1)
  const all = new Int32Array(few * size)
  const block = new Int32Array(few)
  const varying = new Int32Array(lengthOf(rank))
  const sent: readonly Numbers[] = [mine, doubles, single, all, block, varying]
  const counts = Array.from(ranksOf(comm), lengthOf)
  const sumOfCounts = sumOf(size, lengthOf)
  const before = (r: number) => sumOf(r, lengthOf)
  /** Blocks in the order of descending ranks. */
  const displs = Array.from(ranksOf(comm), (r) => sumOfCounts - before(r + 1))
  const pair = (src: number, dest: number) => (src + dest) % 3
  const pairs = Array.from(ranksOf(comm), (dest) => pair(rank, dest))
  const pairsTo = Array.from(ranksOf(comm), (src) => pair(src, rank))
  const received = sumOf(size, (src) => pair(src, rank))
  /** Uneven blocks of a reduction: the first takes what the others leave. */
  const shares = Array.from(ranksOf(comm), (r) => (r === 0 ? size + 2 : 2))
  const shareStart = rank === 0 ? 0 : size + 2 * rank

  const room = (count: number) => new Int32Array(count)
  const roomAtRoot = (count: number) => (isRoot ? room(count) : null)
  /**
   * A case by the arguments of its call, to which an init adds the array that it fills.
   *
   * @param into null where the rank gets nothing
   * @param at elements of the result
   * @param place of `into` among the arguments of the init
   */
  const filling = (
    into: Numbers | null,
    call: readonly unknown[],
    at: At,
    { place = 1, count = into?.length ?? 0, counts }: Layout = {},
  ): FormCase => ({
    call,
    init: call.toSpliced(place, 0, into),
    filled: into?.subarray(0, count) ?? null,
    expected(round) {
      const result = into?.slice(0, count) ?? null
      for (let i = 0; result !== null && i < count; i++) result[i] = at(i, round)
      return result
    },
    ...(counts === undefined ? {} : { counts }),
  })

  /** What the rank at this place of a concatenation of varying blocks passed there. */
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
  const gathered: At = (i, round) => term(Math.floor(i / few), i % few, round)

  const total: At = (i, round) => sum(size, i, round)
  const copied = isRoot ? mine : room(length)
  const [atRoot, ofRoot] = isRoot ? [all, counts] : [null, null]
  const tree = { algorithm: 'allreduce-tree' }
  const pairwise = { algorithm: 'alltoall-pairwise' }
  const bruck = { algorithm: 'alltoall-bruck' }

  const cases: CollectiveForms = {
    barrier: [{ call: [], init: [], filled: null, expected: () => null }],
    bcast: [
      {
        ...filling(copied, [isRoot ? mine : null, root], (i, round) => term(root, i, round)),
        init: [copied, root],
      },
    ],
    reduce: [filling(roomAtRoot(length), [mine, 'sum', root], total)],
    allreduce: [
      filling(room(length), [mine, 'sum'], total),
      filling(new Float64Array(length), [doubles, 'sum', tree], total),
      filling(new Float32Array(1), [single, 'max'], (i, round) => term(root, i, round)),
    ],
    gather: [filling(roomAtRoot(few * size), [block, root], gathered)],
    gatherv: [filling(roomAtRoot(sumOfCounts), [varying, root, { counts }], varied, { counts })],
    scatter: [filling(room(few), [atRoot, root], (i, round) => term(root, few * rank + i, round))],
    scatterv: [
      filling(room(few), [atRoot, ofRoot, root], (i, round) => term(root, before(rank) + i, round), {
        place: 2,
        count: lengthOf(rank),
      }),
    ],
    allgather: [filling(room(few * size), [block], gathered)],
    allgatherv: [
      filling(room(sumOfCounts), [varying], varied, { counts }),
      filling(room(sumOfCounts), [varying, { displs }], reversed, { counts }),
    ],
    alltoall: [
      filling(room(few * size), [all, pairwise], (i, round) =>
        term(Math.floor(i / few), few * rank + (i % few), round),
      ),
    ],
    alltoallv: [
      filling(room(received), [all, pairs], traded, { place: 2, counts: pairsTo }),
      filling(room(received), [all, pairs, bruck], traded, { place: 2, counts: pairsTo }),
    ],
    reduceScatter: [
      filling(room(few), [all, 'sum'], (i, round) => sum(size, few * rank + i, round)),
      filling(
        room(shares[0]),
        [all, 'sum', { counts: shares }],
        (i, round) => sum(size, shareStart + i, round),
        { count: shares[rank] },
      ),
    ],
    scan: [filling(room(length), [mine, 'sum'], (i, round) => sum(rank + 1, i, round))],
    exscan: [
      {
        ...filling(room(length), [mine, 'sum'], (i, round) => sum(rank, i, round)),
        // The array of rank 0 is not filled.
        ...(rank === 0 ? { filled: null, expected: () => null } : {}),
      },
    ],
  }
  return {
    cases,
    fill(round) {
      for (const array of sent) for (let i = 0; i < array.length; i++) array[i] = term(rank, i, round)
    },
  }
}
