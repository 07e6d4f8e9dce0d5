import { algorithms } from '../collective/algorithms.js'
import type { Communicator } from '../comm/communicator.js'
import { createOperation } from '../comm/datatype/operation.js'
import { isRankweaveError } from '../errors.js'
import {
  addFloats,
  countsOf,
  elements,
  floats,
  joined,
  lengthOf,
  ranksOf,
  same,
  textOf,
  tree,
  treePrefix,
  types,
} from './collective-oracles.js'
import type { WorldCase } from './world-case.js'

/** How a call is to be done. */
export interface AlgorithmOptions {
  readonly algorithm: string
  readonly segments?: number
}

/** What is moved: data encode the slot, the ranks and the element. */
export interface AlgorithmCase {
  readonly slot: number
  /** Elements per block. */
  readonly length: number
  /** Of rooted collectives. */
  readonly root: number
}

/** Throws when a result is wrong. */
export type AlgorithmCheck = (
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
) => Promise<void>

/** The composition of affine maps on pairs of elements, which does not commute; integers wrap, so it is associative exactly. */
const composition = createOperation<Int32Array>(
  (a, b) => {
    for (let i = 0; i + 1 < a.length; i += 2) {
      // x -> p x + q, then x -> r x + s.
      const [p, q, r, s] = [a[i]!, a[i + 1]!, b[i]!, b[i + 1]!]
      a[i] = Math.imul(p, r)
      a[i + 1] = Math.imul(q, r) + s
    }
    return undefined
  },
  { name: 'composition' },
)

/** Undefined when the algorithm refuses the call, which it does alike on all ranks. */
async function unlessRefused<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (isRankweaveError(error) && error.code === 'ERR_ALGORITHM') return undefined
    throw error
  }
}

async function checkAllreduce(
  comm: Communicator,
  options: AlgorithmOptions,
  { slot, length }: AlgorithmCase,
): Promise<void> {
  const { rank } = comm
  const leaf = (of: number) => floats(slot, of, length)
  const whole = (of: number) => elements(Int32Array, slot, of, 0, 2 * length) as Int32Array
  const mine = leaf(rank)
  const inPlace = whole(rank)
  const [bits, sum, max, composed] = await Promise.all([
    unlessRefused(comm.allreduce(mine, 'sum', options)),
    unlessRefused(comm.allreduce(inPlace, 'sum', { ...options, into: inPlace })),
    unlessRefused(
      comm.allreduce(leaf(rank), 'max', { ...options, order: 'any', into: new Float64Array(length + 1) }),
    ),
    unlessRefused(comm.allreduce(whole(rank), composition, options)),
  ])
  if (bits !== undefined)
    same(bits, tree(ranksOf(comm), leaf, addFloats), 'allreduce in the order of the tree')
  same(mine, leaf(rank), 'allreduce does not change its input')
  if (sum === undefined || max === undefined) return
  same(sum === inPlace, true, 'allreduce: the result is into')
  same(sum, ranksOf(comm).map(whole).reduce(addIntegers), 'allreduce of integers, in place')
  const larger = (a: Float64Array, b: Float64Array) => a.map((value, i) => Math.max(value, b[i]!))
  same(max.slice(0, length), ranksOf(comm).map(leaf).reduce(larger), 'allreduce in any order')
  if (composed === undefined) return
  same(
    composed,
    ranksOf(comm).map(whole).reduce(compose),
    'allreduce with an operation that does not commute',
  )
}

async function checkBcast(
  comm: Communicator,
  options: AlgorithmOptions,
  { slot, length, root }: AlgorithmCase,
): Promise<void> {
  const isRoot = comm.rank === root
  const type = types[slot % types.length]!
  const expected = elements(type, slot, root, 0, length)
  const into = new type(length)
  const given = expected.slice()
  const [fresh, placed, value] = await Promise.all([
    unlessRefused(comm.bcast(isRoot ? given : null, root, options)),
    unlessRefused(comm.bcast(isRoot ? given : null, root, { ...options, into })),
    unlessRefused(comm.bcast(isRoot ? textOf(slot, root) : null, root, options)),
  ])
  if (fresh === undefined) return
  same(fresh, expected, 'bcast')
  same(placed, expected, 'bcast into an array')
  same(placed === (isRoot ? given : into), true, 'bcast: the result is into')
  same(value, textOf(slot, root), 'bcast of a value')
}

async function checkBarrier(comm: Communicator, options: AlgorithmOptions): Promise<void> {
  await unlessRefused(comm.barrier(options))
}

async function checkScatter(
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
): Promise<void> {
  const { slot, length, root } = given
  const isRoot = comm.rank === root
  const type = types[slot % types.length]!
  const blocks = ranksOf(comm).map((rank) => elements(type, slot, root, rank, length))
  const varying = ranksOf(comm).map((rank) => elements(Int16Array, slot, root, rank, lengthOf(rank, length)))
  const texts = ranksOf(comm).map((rank) => textOf(slot, rank))
  const into = new type(length)
  const [equal, placed, counted, value] = await Promise.all([
    unlessRefused(comm.scatter(isRoot ? joined(type, blocks) : null, root, options)),
    unlessRefused(comm.scatter(isRoot ? joined(type, blocks) : null, root, { ...options, into })),
    unlessRefused(
      comm.scatterv(
        isRoot ? joined(Int16Array, varying) : null,
        isRoot ? countsOf(varying) : null,
        root,
        options,
      ),
    ),
    unlessRefused(comm.scatter(isRoot ? texts : null, root, options)),
  ])
  if (equal === undefined) return
  same(equal, blocks[comm.rank], 'scatter')
  same(placed === into, true, 'scatter: the result is into')
  same(placed, blocks[comm.rank], 'scatter into an array')
  same(counted, varying[comm.rank], 'scatterv')
  same(value, texts[comm.rank], 'scatter of values')
}

async function checkGather(
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
): Promise<void> {
  const { slot, length, root } = given
  const { rank } = comm
  const type = types[slot % types.length]!
  const block = (of: number) => elements(type, slot, of, root, length)
  const varying = (of: number) => elements(Int16Array, slot, of, root, lengthOf(of, length))
  const [equal, counted, values] = await Promise.all([
    unlessRefused(comm.gather(block(rank), root, options)),
    unlessRefused(comm.gatherv(varying(rank), root, options)),
    unlessRefused(comm.gather(textOf(slot, rank), root, options)),
  ])
  if (equal === undefined) return
  const isRoot = rank === root
  same(equal, isRoot ? joined(type, ranksOf(comm).map(block)) : null, 'gather')
  same(counted?.data ?? null, isRoot ? joined(Int16Array, ranksOf(comm).map(varying)) : null, 'gatherv')
  same(values, isRoot ? ranksOf(comm).map((of) => textOf(slot, of)) : null, 'gather of values')
}

async function checkAllgather(
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
): Promise<void> {
  const { slot, length } = given
  const { rank, size } = comm
  const type = types[slot % types.length]!
  const block = (of: number) => elements(type, slot, of, 0, length)
  const varying = (of: number) => elements(Int16Array, slot, of, 0, lengthOf(of, length))
  const all = new type(size * length)
  const mine = all.subarray(rank * length, (rank + 1) * length)
  mine.set(block(rank) as never)
  const [equal, inPlace, counted, values] = await Promise.all([
    unlessRefused(comm.allgather(block(rank), options)),
    unlessRefused(comm.allgather(mine, { ...options, into: all })),
    unlessRefused(comm.allgatherv(varying(rank), options)),
    unlessRefused(comm.allgather(textOf(slot, rank), options)),
  ])
  if (equal === undefined) return
  const expected = joined(type, ranksOf(comm).map(block))
  same(equal, expected, 'allgather')
  same(inPlace, expected, 'allgather in place')
  same(counted?.data, joined(Int16Array, ranksOf(comm).map(varying)), 'allgatherv')
  same(
    values,
    ranksOf(comm).map((of) => textOf(slot, of)),
    'allgather of values',
  )
}

async function checkAlltoall(
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
): Promise<void> {
  const { slot, length } = given
  const { rank } = comm
  const type = types[slot % types.length]!
  const block = (from: number, to: number) => elements(type, slot, from, to, length)
  const varying = (from: number, to: number) =>
    elements(Int16Array, slot, from, to, lengthOf(from + 2 * to, length))
  const out = ranksOf(comm).map((to) => varying(rank, to))
  const data = joined(
    type,
    ranksOf(comm).map((to) => block(rank, to)),
  )
  const inPlace = data.slice()
  const [equal, placed, counted, values] = await Promise.all([
    unlessRefused(comm.alltoall(data, options)),
    unlessRefused(comm.alltoall(inPlace, { ...options, into: inPlace })),
    unlessRefused(comm.alltoallv(joined(Int16Array, out), countsOf(out), options)),
    unlessRefused(
      comm.alltoall(
        ranksOf(comm).map((to) => textOf(slot + rank, to)),
        options,
      ),
    ),
  ])
  const expected = joined(
    type,
    ranksOf(comm).map((from) => block(from, rank)),
  )
  if (equal !== undefined) same(equal, expected, 'alltoall')
  if (placed !== undefined) same(placed, expected, 'alltoall in place')
  const back = ranksOf(comm).map((from) => varying(from, rank))
  if (counted !== undefined) same(counted.data, joined(Int16Array, back), 'alltoallv')
  if (values !== undefined)
    same(
      values,
      ranksOf(comm).map((from) => textOf(slot + from, rank)),
      'alltoall of values',
    )
}

/** A reduction of each kind: with the bits of the tree, of integers, and with an operation that does not commute. */
async function checkReductions(
  comm: Communicator,
  { slot, length }: AlgorithmCase,
  reduce: <T extends Float64Array | Int32Array>(data: T, op: 'sum' | typeof composition) => Promise<T | null>,
  expected: <T extends Float64Array | Int32Array>(leaf: (of: number) => T, op: (a: T, b: T) => T) => T | null,
): Promise<void> {
  const leaf = (of: number) => floats(slot, of, length)
  const whole = (of: number) => elements(Int32Array, slot, of, 0, 2 * length) as Int32Array
  const [bits, sum, composed] = await Promise.all([
    unlessRefused(reduce(leaf(comm.rank), 'sum')),
    unlessRefused(reduce(whole(comm.rank), 'sum')),
    unlessRefused(reduce(whole(comm.rank), composition)),
  ])
  if (bits !== undefined) same(bits, expected(leaf, addFloats), 'in the order of the tree')
  if (sum !== undefined) same(sum, expected(whole, addIntegers), 'of integers')
  if (composed !== undefined)
    same(composed, expected(whole, compose), 'with an operation that does not commute')
}

function checkReduce(comm: Communicator, options: AlgorithmOptions, given: AlgorithmCase): Promise<void> {
  const { root } = given
  return checkReductions(
    comm,
    given,
    (data, op) => comm.reduce(data as Int32Array, op as 'sum', root, options) as Promise<typeof data | null>,
    (leaf, op) => (comm.rank === root ? tree(ranksOf(comm), leaf, op) : null),
  )
}

function checkReduceScatter(
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
): Promise<void> {
  const { size, rank } = comm
  const counts = ranksOf(comm).map((of) => lengthOf(of, 2))
  const first = counts.slice(0, rank).reduce((a, b) => a + b, 0)
  const total = counts.reduce((a, b) => a + b, 0)
  // Of the length that is passed only what divides into blocks is given.
  const cut = <T extends Float64Array | Int32Array>(data: T) =>
    data.slice(0, data.length - (data.length % size)) as T
  const equal = checkReductions(
    comm,
    given,
    (data, op) => comm.reduceScatter(cut(data) as Int32Array, op as 'sum', options) as Promise<typeof data>,
    (leaf, op) => {
      const whole = tree(ranksOf(comm), (of) => cut(leaf(of)), op)
      return whole.slice((rank * whole.length) / size, ((rank + 1) * whole.length) / size) as typeof whole
    },
  )
  const varying = checkReductions(
    comm,
    { ...given, length: total },
    (data, op) =>
      comm.reduceScatter(data.slice(0, total) as Int32Array, op as 'sum', { ...options, counts }) as Promise<
        typeof data
      >,
    (leaf, op) =>
      tree(ranksOf(comm), (of) => leaf(of).slice(0, total) as ReturnType<typeof leaf>, op).slice(
        first,
        first + counts[rank]!,
      ) as ReturnType<typeof leaf>,
  )
  return Promise.all([equal, varying]).then(() => undefined)
}

function checkScan(comm: Communicator, options: AlgorithmOptions, given: AlgorithmCase): Promise<void> {
  return checkReductions(
    comm,
    given,
    (data, op) =>
      comm.scan(data as Int32Array, op as 'sum', { ...options, into: data as Int32Array }) as Promise<
        typeof data
      >,
    (leaf, op) => {
      const before = prefixOf(comm, leaf, op)
      return before === null ? leaf(comm.rank) : op(before, leaf(comm.rank))
    },
  )
}

function checkExscan(comm: Communicator, options: AlgorithmOptions, given: AlgorithmCase): Promise<void> {
  return checkReductions(
    comm,
    given,
    (data, op) => comm.exscan(data as Int32Array, op as 'sum', options) as Promise<typeof data | null>,
    (leaf, op) => prefixOf(comm, leaf, op),
  )
}

/** The combination of all ranks before this one, in the order of the tree. */
function prefixOf<T>({ rank, size }: Communicator, leaf: (of: number) => T, op: (a: T, b: T) => T): T | null {
  return treePrefix(size, rank, leaf, op)
}

const addIntegers = (a: Int32Array, b: Int32Array) => a.map((value, i) => value + b[i]!)

function compose(a: Int32Array, b: Int32Array): Int32Array {
  const out = a.slice()
  composition.combine(out, b)
  return out
}

/** By collective: a check of one of its algorithms. */
export const checkOfCollective: ReadonlyMap<string, AlgorithmCheck> = new Map<string, AlgorithmCheck>([
  ['barrier', checkBarrier],
  ['bcast', checkBcast],
  ['scatter', checkScatter],
  ['gather', checkGather],
  ['allgather', checkAllgather],
  ['alltoall', checkAlltoall],
  ['reduce', checkReduce],
  ['allreduce', checkAllreduce],
  ['reduce-scatter', checkReduceScatter],
  ['scan', checkScan],
  ['exscan', checkExscan],
])

/** Elements per block: none, fewer than segments, more; and, of the last, more than a frame and an eager message hold. */
const lengths = [0, 2, 33, 20_000]

/** Every algorithm as a case. What one refuses on a world it is not checked for. */
export const algorithmChecks: readonly WorldCase[] = algorithms.flatMap(({ id, collective }) => {
  const check = checkOfCollective.get(collective)
  return check === undefined ? [] : [caseOf(id, check)]
})

function caseOf(id: string, check: AlgorithmCheck): WorldCase {
  return {
    name: `algorithm ${id}`,
    async check(world, { seed, rounds }) {
      for (let round = 0; round < rounds; round++) {
        for (const [i, length] of lengths.entries()) {
          const slot = (seed % 1000) + round
          const given = { slot, length, root: (slot + i) % world.size }
          await check(world, { algorithm: id, ...(i % 2 === 0 ? {} : { segments: 1 + i }) }, given)
        }
      }
    },
  }
}
