import { algorithms } from '../collective/algorithms.js'
import type { Algorithm } from '../collective/patterns/algorithm.js'
import { isRankweaveError } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'
import { createOperation } from '../messages/datatype/operation.js'
import {
  addFloats,
  concatenatedBlocks,
  elements,
  floats,
  labeledText,
  lengthOf,
  lengthsOf,
  ranksOf,
  same,
  tree,
  treePrefix,
  types,
} from './collective-oracles.js'
import type { WorldCase } from './world-case.js'

interface AlgorithmOptions {
  readonly algorithm: string
  readonly segments?: number
}

/** The data that a call moves; they encode the slot, the ranks and the element. */
interface AlgorithmCase {
  readonly slot: number
  readonly length: number
  readonly root: number
}

/** Throws when a result is wrong. */
type AlgorithmCheck = (comm: Communicator, options: AlgorithmOptions, given: AlgorithmCase) => Promise<void>

/** Returns undefined when the algorithm refuses the call, which it does alike on all ranks. */
async function unlessRefused<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (isRankweaveError(error) && error.code === 'ERR_ALGORITHM') return undefined
    throw error
  }
}

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

const reductionChecks: readonly (readonly [string, AlgorithmCheck])[] = [
  ['reduce', checkReduce],
  ['allreduce', checkAllreduce],
  ['reduce-scatter', checkReduceScatter],
  ['scan', checkScan],
  ['exscan', checkExscan],
]

async function checkBcast(
  comm: Communicator,
  options: AlgorithmOptions,
  { slot, length, root }: AlgorithmCase,
): Promise<void> {
  const isRoot = comm.rank === root
  const type = types[slot % types.length]
  const expected = elements(type, slot, root, 0, length)
  const into = new type(length)
  const given = expected.slice()
  const [fresh, placed, value] = await Promise.all([
    unlessRefused(comm.bcast(isRoot ? given : null, root, options)),
    unlessRefused(comm.bcast(isRoot ? given : null, root, { ...options, into })),
    unlessRefused(comm.bcast(isRoot ? labeledText(slot, root) : null, root, options)),
  ])
  if (fresh === undefined) return
  same(fresh, expected, 'bcast')
  same(placed, expected, 'bcast into an array')
  same(placed === (isRoot ? given : into), true, 'bcast: the result is into')
  same(value, labeledText(slot, root), 'bcast of a value')
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
  const type = types[slot % types.length]
  const blocks = ranksOf(comm).map((rank) => elements(type, slot, root, rank, length))
  const varying = ranksOf(comm).map((rank) => elements(Int16Array, slot, root, rank, lengthOf(rank, length)))
  const texts = ranksOf(comm).map((rank) => labeledText(slot, rank))
  const into = new type(length)
  const [equal, placed, counted, value] = await Promise.all([
    unlessRefused(comm.scatter(isRoot ? concatenatedBlocks(type, blocks) : null, root, options)),
    unlessRefused(comm.scatter(isRoot ? concatenatedBlocks(type, blocks) : null, root, { ...options, into })),
    unlessRefused(
      comm.scatterv(
        isRoot ? concatenatedBlocks(Int16Array, varying) : null,
        isRoot ? lengthsOf(varying) : null,
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
  const type = types[slot % types.length]
  const block = (of: number) => elements(type, slot, of, root, length)
  const varying = (of: number) => elements(Int16Array, slot, of, root, lengthOf(of, length))
  const [equal, counted, values] = await Promise.all([
    unlessRefused(comm.gather(block(rank), root, options)),
    unlessRefused(comm.gatherv(varying(rank), root, options)),
    unlessRefused(comm.gather(labeledText(slot, rank), root, options)),
  ])
  if (equal === undefined) return
  const isRoot = rank === root
  same(equal, isRoot ? concatenatedBlocks(type, ranksOf(comm).map(block)) : null, 'gather')
  same(
    counted?.data ?? null,
    isRoot ? concatenatedBlocks(Int16Array, ranksOf(comm).map(varying)) : null,
    'gatherv',
  )
  same(values, isRoot ? ranksOf(comm).map((of) => labeledText(slot, of)) : null, 'gather of values')
}

async function checkAllgather(
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
): Promise<void> {
  const { slot, length } = given
  const { rank, size } = comm
  const type = types[slot % types.length]
  const block = (of: number) => elements(type, slot, of, 0, length)
  const varying = (of: number) => elements(Int16Array, slot, of, 0, lengthOf(of, length))
  const all = new type(size * length)
  const mine = all.subarray(rank * length, (rank + 1) * length)
  mine.set(block(rank) as never)
  const [equal, inPlace, counted, values] = await Promise.all([
    unlessRefused(comm.allgather(block(rank), options)),
    unlessRefused(comm.allgather(mine, { ...options, into: all })),
    unlessRefused(comm.allgatherv(varying(rank), options)),
    unlessRefused(comm.allgather(labeledText(slot, rank), options)),
  ])
  if (equal === undefined) return
  const expected = concatenatedBlocks(type, ranksOf(comm).map(block))
  same(equal, expected, 'allgather')
  same(inPlace, expected, 'allgather in place')
  same(counted?.data, concatenatedBlocks(Int16Array, ranksOf(comm).map(varying)), 'allgatherv')
  same(
    values,
    ranksOf(comm).map((of) => labeledText(slot, of)),
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
  const type = types[slot % types.length]
  const block = (from: number, to: number) => elements(type, slot, from, to, length)
  const varying = (from: number, to: number) =>
    elements(Int16Array, slot, from, to, lengthOf(from + 2 * to, length))
  const out = ranksOf(comm).map((to) => varying(rank, to))
  const data = concatenatedBlocks(
    type,
    ranksOf(comm).map((to) => block(rank, to)),
  )
  const inPlace = data.slice()
  const [equal, placed, counted, values] = await Promise.all([
    unlessRefused(comm.alltoall(data, options)),
    unlessRefused(comm.alltoall(inPlace, { ...options, into: inPlace })),
    unlessRefused(comm.alltoallv(concatenatedBlocks(Int16Array, out), lengthsOf(out), options)),
    unlessRefused(
      comm.alltoall(
        ranksOf(comm).map((to) => labeledText(slot + rank, to)),
        options,
      ),
    ),
  ])
  const expected = concatenatedBlocks(
    type,
    ranksOf(comm).map((from) => block(from, rank)),
  )
  if (equal !== undefined) same(equal, expected, 'alltoall')
  if (placed !== undefined) same(placed, expected, 'alltoall in place')
  const back = ranksOf(comm).map((from) => varying(from, rank))
  if (counted !== undefined) same(counted.data, concatenatedBlocks(Int16Array, back), 'alltoallv')
  if (values !== undefined)
    same(
      values,
      ranksOf(comm).map((from) => labeledText(slot + from, rank)),
      'alltoall of values',
    )
}

const movementChecks: readonly (readonly [string, AlgorithmCheck])[] = [
  ['barrier', checkBarrier],
  ['bcast', checkBcast],
  ['scatter', checkScatter],
  ['gather', checkGather],
  ['allgather', checkAllgather],
  ['alltoall', checkAlltoall],
]

export const checkOfCollective: ReadonlyMap<string, AlgorithmCheck> = new Map([
  ...movementChecks,
  ...reductionChecks,
])

/** The numbers of elements per block: none, fewer than segments, more; and more than an eager message holds. */
const lengths = [0, 2, 33, 9000]

/**
 * The most ranks with which all lengths are checked. Larger worlds use only the first, because each rank computes all
 * results by itself.
 */
const fewRanks = 5

/**
 * The algorithms as cases, also at the bounds of their parameters. Calls that an algorithm refuses on a world are not
 * checked.
 */
export const algorithmChecks: readonly WorldCase[] = algorithms
  .flatMap(withBounds)
  .flatMap(({ id, collective }, index) => {
    const check = checkOfCollective.get(collective)
    return check === undefined ? [] : [caseOf(id, check, index)]
  })

function withBounds(algorithm: Algorithm): readonly Algorithm[] {
  const bound = Object.entries(algorithm.parameters ?? {}).flatMap(([name, { least, most }]) =>
    [least, most].map((value) => (value === undefined ? algorithm : algorithm.with!({ [name]: value }))),
  )
  return [...new Set([algorithm, ...bound])]
}

/** Checks every other length; the next round checks the others. */
function caseOf(id: string, check: AlgorithmCheck, index: number): WorldCase {
  return {
    name: `algorithm ${id}`,
    async check(world, { seed, rounds }) {
      for (let round = 0; round < rounds; round++) {
        for (const [i, length] of lengths.slice(0, world.size > fewRanks ? 3 : 4).entries()) {
          if ((i + index + seed + round) % 2 !== 0) continue
          const slot = (seed % 1000) + round
          const given = { slot, length, root: (slot + i) % world.size }
          await check(world, { algorithm: id, ...(i % 2 === 0 ? {} : { segments: 1 + i }) }, given)
        }
      }
    },
  }
}
