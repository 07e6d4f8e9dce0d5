import type { ProcessTopology } from '../topology/process-topology.js'

/** What a schedule is for: a name for readers. What it must do is in the {@link Specification}. */
export const collectives = [
  'neighbor-allgather',
  'barrier',
  'bcast',
  'scatter',
  'gather',
  'allgather',
  'reduce',
  'allreduce',
  'reduce-scatter',
  'scan',
  'exscan',
  'alltoall',
] as const

export type Collective = (typeof collectives)[number]

/** Those in which one rank, the root, has all data before or after. */
export const rootedCollectives: readonly Collective[] = ['bcast', 'scatter', 'gather', 'reduce']

/**
 * What every rank holds before a collective and must hold after it. Complete in itself: no topology, communicator or
 * algorithm is needed to read it.
 *
 * **Blocks** are the units of data, of any length. What rank o contributes is cut into parts: its p-th part is block
 * `partStart[o] + p`, and `partStart` has length `ranks + 1`. A broadcast in 4 segments has 4 parts at the root and none
 * elsewhere; in an alltoall part p of origin o is what o sends to p; in a reduction all ranks have equally many parts, and
 * parts of one index are combined.
 *
 * **Before**, rank r holds `ownBlock[ownStart[r]]` up to the next in its own places.
 *
 * **After**, the l-th slot of rank r must hold `slotTerm[slotStart[r] + l]`: a block where it is at least 0, else the
 * reduction numbered `~slotTerm`.
 */
export interface Specification {
  readonly collective: Collective
  readonly ranks: number
  readonly partStart: Int32Array
  readonly ownStart: Int32Array
  readonly ownBlock: Int32Array
  readonly slotStart: Int32Array
  readonly slotTerm: Int32Array
  readonly reductions: Reductions
}

/**
 * Reductions by number: reduction i combines the blocks of the runs `runStart[i]` up to the next, in their order. Run j is
 * the blocks `first[j] + n * stride[j]` for n from 0 to `count[j] - 1`.
 */
export interface Reductions {
  /** Whether a block may be combined in more than once, as in a barrier: what counts is that it is in. */
  readonly isIdempotent: boolean
  /** Length: reductions + 1. */
  readonly runStart: Int32Array
  readonly first: Int32Array
  readonly count: Int32Array
  readonly stride: Int32Array
}

const none = new Int32Array(0)

/** Of a specification whose slots are all blocks. */
export const noReductions: Reductions = Object.freeze({
  isIdempotent: false,
  runStart: new Int32Array(1),
  first: none,
  count: none,
  stride: none,
})

/**
 * A neighbor allgather: rank r contributes block r; its l-th slot must hold the block of its l-th source (MPI-4.1 §8.6).
 * Shares the arrays of the topology.
 */
export function neighborAllgatherSpecification({ ranks, inStart, inRank }: ProcessTopology): Specification {
  const starts = upTo(ranks + 1)
  return {
    collective: 'neighbor-allgather',
    ranks,
    partStart: starts,
    ownStart: starts,
    ownBlock: starts.subarray(0, ranks),
    slotStart: inStart,
    slotTerm: inRank,
    reductions: noReductions,
  }
}

/** Blocks are numbered 0 to this minus one. */
export function blockCount({ partStart, ranks }: Specification): number {
  return partStart[ranks]
}

/** The rank that contributes each block. Length: blocks. */
export function originOfBlocks({ partStart, ranks }: Specification): Int32Array {
  const origins = new Int32Array(partStart[ranks])
  for (let rank = 0; rank < ranks; rank++) origins.fill(rank, partStart[rank], partStart[rank + 1])
  return origins
}

/** 0 to count - 1; `Int32Array.from` takes over ten times as long. */
export function upTo(count: number): Int32Array {
  const numbers = new Int32Array(count)
  for (let i = 0; i < count; i++) numbers[i] = i
  return numbers
}
