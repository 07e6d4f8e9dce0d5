import type { PersistentRequest } from '../calls/program/planned-call.js'
import type { Gathered } from '../calls/values/placement.js'
import type { Communicator } from '../handles/communicator.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import { type Request, waitall } from '../messages/p2p/request.js'
import { oddTuning, ranksOf, same } from './collective-oracles.js'
import type { WorldCase } from './world-case.js'

/** The names of a communicator's methods that have all forms. */
export type NamesWithForms<C> = {
  [K in keyof C & string]: `i${K}` extends keyof C ? (`${K}Init` extends keyof C ? K : never) : never
}[keyof C & string]

/** The part of one rank in a call, in each of its forms. */
export interface FormCase {
  /** The arguments of the call, and of the form whose name begins with `i`. */
  readonly call: readonly unknown[]
  readonly init: readonly unknown[]
  /** The array of the init that starts fill or leave unchanged; null if the rank passes none. */
  readonly filled: unknown
  /** Returns the result of the rank with the data of a round; null if it gets nothing. */
  expected(round: number): unknown
  /** Returns all of `filled` after a start. Default: the result of the rank. */
  holds?(round: number): unknown
  /** The numbers of elements of the blocks of a result of varying blocks. */
  readonly counts?: readonly number[]
}

/** The cases by the name of the call; `fill` writes the data of a round into their arrays. */
export interface FormCases {
  readonly cases: Readonly<Record<string, readonly FormCase[]>>
  fill(round: number): void
}

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

/**
 * Calls a method of a communicator.
 *
 * @throws when it has none of that name
 */
export function callByName(comm: Communicator, name: string, args: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(comm, name)
  if (typeof method !== 'function') throw new Error(`expected a communicator to have a method ${name}`)
  return Reflect.apply(method, comm, args)
}

const listOf = ({ cases }: FormCases) =>
  Object.entries(cases).flatMap(([name, each]) => each.map((form) => ({ name, form })))

export async function checkCalls(comm: Communicator, forms: FormCases): Promise<void> {
  forms.fill(0)
  for (const { name, form } of listOf(forms))
    checkResult(form, await callByName(comm, name, form.call), 0, name)
}

/** Starts every call, and waits for all in one wait, together with other requests. */
export async function checkStarts(
  comm: Communicator,
  forms: FormCases,
  others: readonly Request<unknown>[] = [],
): Promise<void> {
  forms.fill(0)
  const list = listOf(forms)
  const requests = list.map(({ name, form }) => callByName(comm, `i${name}`, form.call) as Request<unknown>)
  const results = await waitall([...requests, ...others])
  for (const [i, { name, form }] of list.entries()) checkResult(form, results[i], 0, `i${name}`)
}

export async function checkPersistentStarts(
  comm: Communicator,
  forms: FormCases,
  rounds: number,
): Promise<void> {
  const bound = listOf(forms).map(({ name, form }) => ({
    name: `${name}Init`,
    form,
    request: callByName(comm, `${name}Init`, form.init) as PersistentRequest,
  }))
  for (let round = 0; round < rounds; round++) {
    forms.fill(round)
    await Promise.all(bound.map(({ request }) => request.start()))
    for (const { name, form } of bound) checkFilled(form, round, `start ${round} of ${name}`)
  }
  for (const { request } of bound) request.free()
}

/** Checks the whole array of an init after a start with the data of a round. */
export function checkFilled(form: FormCase, round: number, what: string): void {
  same(form.filled, form.holds?.(round) ?? form.expected(round), what)
}

export function checkResult(form: FormCase, result: unknown, round: number, what: string): void {
  const gathered = form.counts === undefined ? null : (result as Gathered | null)
  if (gathered !== null) same([...gathered.counts], form.counts, `counts of ${what}`)
  same(gathered?.data ?? result ?? null, form.expected(round), what)
}

const lengths = [3, 300]

/**
 * Calls each collective; then starts all and waits for them together with messages. Runs on the world and on its ranks
 * reversed.
 */
async function checkStarted(world: Communicator): Promise<void> {
  for (const comm of [world, await world.split(0, -world.rank)]) {
    const { rank, size } = comm
    const before = (rank + size - 1) % size
    for (const length of lengths) {
      const forms = collectiveForms(comm, length)
      await checkCalls(comm, forms)
      const sent = comm.isend(
        Int32Array.from({ length }, (_, i) => rank + i),
        (rank + 1) % size,
        5,
      )
      const received = comm.irecv(before, 5, { into: new Int32Array(length) })
      await checkStarts(comm, forms, [sent, received])
      const expected = Int32Array.from({ length }, (_, i) => before + i)
      same((await received.wait()).data, expected, 'irecv')
    }
    if (comm !== world) await comm.free()
  }
}

/** Binds all persistent collectives, and then starts them together with new data. */
async function checkPersistent(world: Communicator): Promise<void> {
  for (const length of lengths) await checkPersistentStarts(world, collectiveForms(world, length), 3)
}

/**
 * The settings: with all messages sent at once, with those of 300 elements offered, and by algorithms that the rule
 * never chooses.
 */
const settings = [{}, { eagerLimitBytes: 1000, creditBytes: 100 }, { tuning: oddTuning() }]

export const formChecks: readonly WorldCase[] = [
  {
    name: 'collectives that are started are waited for together with messages',
    settings,
    check: checkStarted,
  },
  {
    name: 'persistent collectives read and fill their buffers at every start',
    settings,
    check: checkPersistent,
  },
]
