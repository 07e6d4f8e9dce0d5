import type { Communicator } from '../handles/communicator.js'
import { createOperation } from '../messages/datatype/operation.js'
import {
  type AlgorithmCase,
  type AlgorithmCheck,
  type AlgorithmOptions,
  unlessRefused,
} from './algorithm-case.js'
import {
  addFloats,
  elements,
  floats,
  lengthOf,
  ranksOf,
  same,
  tree,
  treePrefix,
} from './collective-oracles.js'

/**
 * The composition of affine maps on pairs of elements, which does not commute; integers wrap, so it is associative
 * exactly.
 */
const composition = createOperation<Int32Array>(
  (a, b) => {
    for (let i = 0; i + 1 < a.length; i += 2) {
      // x -> p x + q, then x -> r x + s.
      const [p, q, r, s] = [a[i], a[i + 1], b[i], b[i + 1]]
      a[i] = Math.imul(p, r)
      a[i + 1] = Math.imul(q, r) + s
    }
    return undefined
  },
  { name: 'composition' },
)

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
  const expected = reducedOf(comm, slot, length)
  if (bits !== undefined) same(bits, expected.inOrder, 'allreduce in the order of the tree')
  same(mine, leaf(rank), 'allreduce does not change its input')
  if (sum === undefined || max === undefined) return
  same(sum === inPlace, true, 'allreduce: the result is into')
  same(sum, expected.sum, 'allreduce of integers, in place')
  same(max.slice(0, length), expected.max, 'allreduce in any order')
  if (composed === undefined) return
  same(composed, expected.composed, 'allreduce with an operation that does not commute')
}

interface Reduced {
  readonly inOrder: Float64Array
  readonly max: Float64Array
  readonly sum: Int32Array
  readonly composed: Int32Array
}

/** The latest expected results. All ranks of a process, and all algorithms, need the same few. */
const reductions = new Map<string, Reduced>()
const mostReductions = 8

/** Returns the results of reductions over all ranks, computed one rank after the other. */
function reducedOf(comm: Communicator, slot: number, length: number): Reduced {
  const key = [comm.size, slot, length].join()
  const found = reductions.get(key)
  if (found !== undefined) return found
  const whole = (of: number) => elements(Int32Array, slot, of, 0, 2 * length) as Int32Array
  const max = floats(slot, 0, length)
  let sum = whole(0)
  const composed = sum.slice()
  for (let rank = 1; rank < comm.size; rank++) {
    const [more, right] = [floats(slot, rank, length), whole(rank)]
    for (let i = 0; i < length; i++) max[i] = Math.max(max[i], more[i])
    sum = addIntegers(sum, right)
    composition.combine(composed, right)
  }
  const inOrder = tree(ranksOf(comm), (rank) => floats(slot, rank, length), addFloats)
  if (reductions.size === mostReductions) reductions.clear()
  const made: Reduced = { inOrder, max, sum, composed }
  reductions.set(key, made)
  return made
}

/**
 * Checks a reduction of each kind: with the bits of the tree, of integers, and with an operation that does not commute.
 */
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
  // The data are cut to a length that divides into blocks.
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
        first + counts[rank],
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

/** Returns the combination of all ranks before this one, in the order of the tree. */
function prefixOf<T>({ rank, size }: Communicator, leaf: (of: number) => T, op: (a: T, b: T) => T): T | null {
  return treePrefix(size, rank, leaf, op)
}

function addIntegers(a: Int32Array, b: Int32Array): Int32Array {
  const sum = a.slice()
  for (let i = 0; i < sum.length; i++) sum[i] = sum[i] + b[i]
  return sum
}

function compose(a: Int32Array, b: Int32Array): Int32Array {
  const out = a.slice()
  composition.combine(out, b)
  return out
}

export const reductionChecks: readonly (readonly [string, AlgorithmCheck])[] = [
  ['reduce', checkReduce],
  ['allreduce', checkAllreduce],
  ['reduce-scatter', checkReduceScatter],
  ['scan', checkScan],
  ['exscan', checkExscan],
]
