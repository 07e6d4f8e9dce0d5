import { equalNumbers } from '../base/search.js'
import { pairEdges } from '../topology/neighbors.js'
import { type ProcessTopology, requireTopology } from '../topology/process-topology.js'

/** The collectives of schedules: names for readers. The {@link Specification} has what a schedule must do. */
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
  'neighbor-alltoall',
  'neighbor-reduce',
] as const

export type Collective = (typeof collectives)[number]

/** The collectives in which one rank, the root, has all data before or after. */
export const rootedCollectives: readonly Collective[] = ['bcast', 'scatter', 'gather', 'reduce']

/** The collectives over a topology, from which their specification follows. */
export const neighborCollectives = ['neighbor-allgather', 'neighbor-alltoall', 'neighbor-reduce'] as const

export type NeighborCollective = (typeof neighborCollectives)[number]

export function isNeighborCollective(collective: Collective): collective is NeighborCollective {
  return (neighborCollectives as readonly Collective[]).includes(collective)
}

/**
 * The data that every rank holds before a collective and must hold after it. It can be read without a topology,
 * communicator or algorithm.
 *
 * **Blocks** are the units of data, of any length. The contribution of rank o is cut into parts: its p-th part is block
 * `partStart[o] + p`, and `partStart` has length `ranks + 1`. A broadcast in 4 segments has 4 parts at the root and
 * none elsewhere; in an alltoall part p of origin o is what o sends to p, in a neighbor alltoall to its p-th
 * destination; in a reduction all ranks have equally many parts, and parts of one index are combined.
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
 * Reductions by number: reduction i combines the blocks of the runs `runStart[i]` up to the next, in their
 * order. Run j is the blocks `first[j] + n * stride[j]` for n from 0 to `count[j] - 1`.
 */
export interface Reductions {
  /** Whether a block may be combined in more than once, as in a barrier, where only its presence counts. */
  readonly isIdempotent: boolean
  /** Length: reductions + 1. */
  readonly runStart: Int32Array
  readonly first: Int32Array
  readonly count: Int32Array
  readonly stride: Int32Array
}

const none = new Int32Array(0)

/** The reductions of a specification whose slots are all blocks. */
export const noReductions: Reductions = Object.freeze({
  isIdempotent: false,
  runStart: new Int32Array(1),
  first: none,
  count: none,
  stride: none,
})

/**
 * Specifies a neighbor allgather: rank r contributes block r; its l-th slot must hold the block of its l-th source
 * (MPI-4.1 §8.6). Shares the arrays of the topology.
 */
export function neighborAllgatherSpecification(topology: ProcessTopology): Specification {
  requireTopology(topology)
  const { ranks, inStart, inRank } = topology
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

/**
 * Specifies a neighbor alltoall: part j of rank r goes to its j-th destination; its l-th slot must hold the block of
 * the edge that is paired with its l-th source (MPI-4.1 §8.6). Blocks are numbered like the edges. Shares the arrays of
 * the topology.
 */
export function neighborAlltoallSpecification(topology: ProcessTopology): Specification {
  requireTopology(topology)
  const { ranks, outStart, outRank, inStart } = topology
  const arrival = pairEdges(topology)
  const slotTerm = new Int32Array(outRank.length)
  for (let edge = 0; edge < arrival.length; edge++) slotTerm[arrival[edge]] = edge
  return {
    collective: 'neighbor-alltoall',
    ranks,
    partStart: outStart,
    ownStart: outStart,
    ownBlock: upTo(outRank.length),
    slotStart: inStart,
    slotTerm,
    reductions: noReductions,
  }
}

/**
 * Specifies a neighbor reduction: rank r contributes block r; the slot of a rank with sources must hold the combination
 * of their blocks in list order, each as often as it is listed. Not in MPI.
 */
export function neighborReduceSpecification(topology: ProcessTopology): Specification {
  requireTopology(topology)
  const { ranks, inStart, inRank } = topology
  const starts = upTo(ranks + 1)
  const slotStart = new Int32Array(ranks + 1)
  const runStart = [0]
  for (let rank = 0; rank < ranks; rank++) {
    const isReceiver = inStart[rank + 1] > inStart[rank]
    slotStart[rank + 1] = slotStart[rank] + (isReceiver ? 1 : 0)
    if (isReceiver) runStart.push(inStart[rank + 1])
  }
  return {
    collective: 'neighbor-reduce',
    ranks,
    partStart: starts,
    ownStart: starts,
    ownBlock: starts.subarray(0, ranks),
    slotStart,
    slotTerm: upTo(slotStart[ranks]).map((reduction) => ~reduction),
    reductions: {
      isIdempotent: false,
      runStart: Int32Array.from(runStart),
      first: inRank,
      count: new Int32Array(inRank.length).fill(1),
      stride: new Int32Array(inRank.length).fill(1),
    },
  }
}

/** Specifies a neighborhood collective over a topology. */
export function neighborSpecification(
  collective: NeighborCollective,
  topology: ProcessTopology,
): Specification {
  switch (collective) {
    case 'neighbor-allgather':
      return neighborAllgatherSpecification(topology)
    case 'neighbor-alltoall':
      return neighborAlltoallSpecification(topology)
    case 'neighbor-reduce':
      return neighborReduceSpecification(topology)
  }
}

/** Whether two specifications demand the same, number by number. Most share their arrays. */
export function isSameSpecification(a: Specification, b: Specification): boolean {
  const arrays = ['partStart', 'ownStart', 'ownBlock', 'slotStart', 'slotTerm'] as const
  const reductions = ['runStart', 'first', 'count', 'stride'] as const
  return (
    a.collective === b.collective &&
    a.ranks === b.ranks &&
    a.reductions.isIdempotent === b.reductions.isIdempotent &&
    arrays.every((name) => equalNumbers(a[name], b[name])) &&
    reductions.every((name) => equalNumbers(a.reductions[name], b.reductions[name]))
  )
}

/** Returns the number of blocks. */
export function blockCount({ partStart, ranks }: Specification): number {
  return partStart[ranks]
}

/** Returns 0 to count - 1; `Int32Array.from` takes over ten times as long. */
export function upTo(count: number): Int32Array {
  const numbers = new Int32Array(count)
  for (let i = 0; i < count; i++) numbers[i] = i
  return numbers
}
