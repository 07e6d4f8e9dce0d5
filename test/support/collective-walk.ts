import { isDeepStrictEqual } from 'node:util'
import { type Communicator, createOperation, isRankweaveError } from 'rankweave'
import { type CollectiveCase, isComparable } from './collective-cases.js'
import {
  blockOf,
  contributionOf,
  type Elements,
  expectedOf,
  joined,
  multiply,
  scatteredLength,
} from './collective-data.js'
import { perTier } from './soak.js'
import {
  type CallOptions,
  callsOf,
  collectivesOf,
  hostsOf,
  nameOfCall,
  placeOf,
  rankCountsOf,
  type Walk,
  type WalkedCall,
} from './walked-calls.js'

/** Ranks that each process of the world must host. */
export const ranksPerProcess = ({ processes, mostRanks }: Walk): readonly number[] =>
  Array<number>(processes).fill(Math.ceil(mostRanks / processes))

/** Calls of one rank, by algorithm; those without one are of `default`. */
export interface Walked {
  readonly done: Record<string, number>
  readonly refused: Record<string, number>
  /** Results that were compared with MPI's. */
  compared: number
}

/** Calls of all ranks of a walk together. */
export interface Totals {
  readonly done: number
  readonly refused: number
  readonly compared: number
  /** That were done at least once, the default among them. */
  readonly methods: number
}

export function totalsOf(walked: readonly Walked[]): Totals {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
  return {
    done: sum(walked.flatMap(({ done }) => Object.values(done))),
    refused: sum(walked.flatMap(({ refused }) => Object.values(refused))),
    compared: sum(walked.map(({ compared }) => compared)),
    methods: new Set(walked.flatMap(({ done }) => Object.keys(done))).size,
  }
}

/** No power of two, and beyond one. */
const mostRanks = perTier({ test: 11, soak: 19, long: 33 })

export const walks: readonly Walk[] = [
  { processes: 1, mostRanks, order: 'blocks' },
  { processes: 2, mostRanks, order: 'blocks' },
  { processes: 4, mostRanks, order: 'blocks' },
  // Each rank takes part in a reduction by itself.
  { processes: 4, mostRanks, order: 'dealt' },
  { processes: 8, mostRanks: 8, order: 'blocks' },
]

/** Calls drawn from all there are, on more processes than the other walks. */
export const drawnWalk = (processes: number): Walk => ({
  processes,
  mostRanks: 33,
  order: 'dealt',
  calls: perTier({ test: 2, soak: 8, long: 60 }),
})

/** What is called in a walk, and what of it is refused: by what the algorithms of the registry say. */
export function expectedTotals(walk: Walk): Totals {
  const totals = { done: 0, refused: 0, compared: 0 }
  const done = new Set<string | undefined>()
  for (const ranks of rankCountsOf(walk)) {
    for (const collective of collectivesOf(walk)) {
      for (const { given, algorithm, refusal } of callsOf(walk, hostsOf(walk, ranks), collective)) {
        if (refusal !== null) {
          totals.refused += ranks
          continue
        }
        totals.done += ranks
        if (isComparable(given)) totals.compared += ranks
        done.add(algorithm?.id)
      }
    }
  }
  return { ...totals, methods: done.size }
}

/** What MPI's own collective gave a rank in a case; undefined where there is no such case. */
export type ResultOfMpi = (given: CollectiveCase, rank: number) => Elements | undefined

const product = createOperation<Int32Array>(multiply, { name: 'matrix product' })

/** Calls that are in progress at once. */
const mostAtOnce = 64

/**
 * Each result of the calls of a walk equals the oracle's, or the call is refused as the algorithm says.
 */
export default async function walk(world: Communicator, given: Walk, mpi?: ResultOfMpi): Promise<Walked> {
  const walked: Walked = { done: {}, refused: {}, compared: 0 }
  for (const ranks of rankCountsOf(given)) {
    const { isMember, key } = placeOf(given, ranks, world.rank)
    const comm = await world.split(isMember ? 0 : null, key)
    if (comm === null) continue
    const hosts = hostsOf(given, ranks)
    for (const collective of collectivesOf(given)) {
      const calls = callsOf(given, hosts, collective)
      for (let first = 0; first < calls.length; first += mostAtOnce) {
        const some = calls.slice(first, first + mostAtOnce)
        await Promise.all(some.map((call) => carryOut(comm, call, walked, mpi)))
        // No rank is ahead, so the report of a deadlock names the call at fault.
        await comm.barrier()
      }
    }
    await comm.free()
  }
  return walked
}

async function carryOut(
  comm: Communicator,
  call: WalkedCall,
  walked: Walked,
  mpi: ResultOfMpi | undefined,
): Promise<void> {
  const { rank } = comm
  const { given, algorithm, options, isInPlace, refusal } = call
  const called = algorithm?.id ?? 'default'
  const what = () => `rank ${rank}: ${nameOfCall(call)}`
  let got: Elements | null
  try {
    got = await started(comm, given, options, isInPlace)
  } catch (error) {
    const isRefused = isRankweaveError(error, 'ERR_ALGORITHM') && error.message === refusal
    if (!isRefused) throw new Error(`${what()}: refused with ${refusal}`, { cause: error })
    walked.refused[called] = (walked.refused[called] ?? 0) + 1
    return
  }
  if (refusal !== null) throw new Error(`${what()}: not refused with ${refusal}`)
  const expected = expectedOf(given, rank)
  if (!isDeepStrictEqual(got, expected)) throw new Error(`${what()}: expected ${expected}, got ${got}`)
  walked.done[called] = (walked.done[called] ?? 0) + 1
  const theirs = mpi?.(given, rank)
  if (theirs === undefined) return
  if (!isDeepStrictEqual(got ?? new Int32Array(0), theirs))
    throw new Error(`${what()}: MPI has ${theirs}, we have ${got}`)
  walked.compared++
}

/** Starts a call; in place, the result lies where the data are, or includes them. */
export async function started(
  comm: Communicator,
  given: CollectiveCase,
  options: CallOptions,
  isInPlace: boolean,
): Promise<Elements | null> {
  const { rank, size } = comm
  const { root, lengths } = given
  const isRoot = rank === root
  const isEqual = lengths !== 'varying'
  const all = <T>(each: (of: number) => T): T[] => Array.from({ length: size }, (_, of) => each(of))
  /** The result, with this rank's block in its place if the call is in place; and that block. */
  const around = (dest: number) => {
    const blocks = all((src) => blockOf(given, src, dest).length)
    const first = blocks.slice(0, rank).reduce((sum, length) => sum + length, 0)
    const block = blockOf(given, rank, dest) as Int32Array
    if (!isInPlace) return { mine: block, into: {} }
    const into = new Int32Array(blocks.reduce((sum, length) => sum + length, 0))
    const mine = into.subarray(first, first + block.length)
    mine.set(block)
    return { mine, into: { into } }
  }
  switch (given.collective) {
    case 'barrier':
      await comm.barrier(options)
      return null
    case 'bcast': {
      const block = blockOf(given, root, 0) as Int32Array
      const into = isRoot ? block : new Int32Array(block.length)
      return comm.bcast(isRoot ? block : null, root, isInPlace ? { ...options, into } : options)
    }
    case 'scatter': {
      const blocks = isRoot ? all((dest) => blockOf(given, root, dest)) : []
      const data = joined(blocks)
      const first = blocks.slice(0, rank).reduce((sum, { length }) => sum + length, 0)
      const length = blockOf(given, root, rank).length
      const into = isRoot ? data.subarray(first, first + length) : new Int32Array(length)
      const more = isInPlace ? { ...options, into } : options
      if (isEqual) return comm.scatter(isRoot ? data : null, root, more)
      const counts = blocks.map((block) => block.length)
      return comm.scatterv(isRoot ? data : null, isRoot ? counts : null, root, more)
    }
    case 'gather': {
      const { mine, into } = around(root)
      const more = isRoot ? { ...options, ...into } : options
      if (isEqual) return comm.gather(mine, root, more)
      return (await comm.gatherv(mine, root, more))?.data ?? null
    }
    case 'allgather': {
      const { mine, into } = around(0)
      if (isEqual) return comm.allgather(mine, { ...options, ...into })
      return (await comm.allgatherv(mine, { ...options, ...into })).data
    }
    case 'alltoall': {
      const out = all((dest) => blockOf(given, rank, dest))
      const total = all((src) => blockOf(given, src, rank).length).reduce((sum, length) => sum + length, 0)
      const sent = joined(out)
      const both = new Int32Array(Math.max(total, sent.length))
      both.set(sent)
      const data = isInPlace ? both.subarray(0, sent.length) : sent
      const more = isInPlace ? { ...options, into: both.subarray(0, total) } : options
      if (isEqual) return comm.alltoall(data, more)
      const counts = out.map(({ length }) => length)
      return (await comm.alltoallv(data, counts, more)).data
    }
    default:
      return reduction(comm, given, options, isInPlace)
  }
}

function reduction(
  comm: Communicator,
  given: CollectiveCase,
  options: CallOptions,
  isInPlace: boolean,
): Promise<Elements | null> {
  const data = contributionOf(given, comm.rank) as Int32Array
  const op = given.content === 'matrices' ? product : 'sum'
  const more = isInPlace ? { ...options, into: data } : options
  switch (given.collective) {
    case 'reduce':
      return comm.reduce(data, op, given.root, more)
    case 'allreduce':
      return comm.allreduce(data, op, more)
    case 'scan':
      return comm.scan(data, op, more)
    case 'exscan':
      return comm.exscan(data, op, more)
    default: {
      const counts = Array.from({ length: comm.size }, (_, rank) => scatteredLength(given, rank))
      const first = counts.slice(0, comm.rank).reduce((sum, count) => sum + count, 0)
      const into = data.subarray(first, first + counts[comm.rank])
      const placed = isInPlace ? { ...options, into } : options
      return comm.reduceScatter(data, op, given.lengths === 'varying' ? { ...placed, counts } : placed)
    }
  }
}
