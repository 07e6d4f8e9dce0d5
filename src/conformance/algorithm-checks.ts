import { algorithms } from '../collective/algorithms.js'
import type { Communicator } from '../comm/communicator.js'
import { createOperation } from '../comm/datatype/operation.js'
import { isRankweaveError } from '../errors.js'
import { addFloats, elements, floats, ranksOf, same, tree } from './collective-oracles.js'
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
  const addIntegers = (a: Int32Array, b: Int32Array) => a.map((value, i) => value + b[i]!)
  same(sum, ranksOf(comm).map(whole).reduce(addIntegers), 'allreduce of integers, in place')
  const larger = (a: Float64Array, b: Float64Array) => a.map((value, i) => Math.max(value, b[i]!))
  same(max.slice(0, length), ranksOf(comm).map(leaf).reduce(larger), 'allreduce in any order')
  if (composed === undefined) return
  const compose = (a: Int32Array, b: Int32Array) => {
    const out = a.slice()
    composition.combine(out, b)
    return out
  }
  same(
    composed,
    ranksOf(comm).map(whole).reduce(compose),
    'allreduce with an operation that does not commute',
  )
}

/** By collective: a check of one of its algorithms. */
export const checkOfCollective: ReadonlyMap<string, AlgorithmCheck> = new Map([['allreduce', checkAllreduce]])

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
