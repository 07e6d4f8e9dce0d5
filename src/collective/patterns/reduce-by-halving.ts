import { partialResult } from '../../schedule/ir.js'
import type { RankOperations } from './rank-operations.js'

/**
 * The folding by which algorithms for powers of two serve any number of ranks. The core is the largest power of two.
 * For every rank beyond it, one pair of the first ranks is folded: the even rank of a pair hands its data to the odd
 * one, which takes part for both. Adjacent ranks are folded, so that the order of ranks remains.
 *
 * @see Pjesivac-Grbovic 2007 §4.1; Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication
 *   Operations in MPICH
 */
interface FoldedRanks {
  /** The number of ranks of the core, a power of two. */
  readonly core: number
  /** The number of folded pairs. */
  readonly pairs: number
}

export function foldedRanks(ranks: number): FoldedRanks {
  const core = 2 ** (31 - Math.clz32(ranks))
  return { core, pairs: ranks - core }
}

/** Returns the number of a rank in the core; -1 if another rank takes part for it. */
export function coreIndex({ pairs }: FoldedRanks, rank: number): number {
  if (rank >= 2 * pairs) return rank - pairs
  return rank % 2 === 1 ? (rank - 1) / 2 : -1
}

/** Returns the rank that takes part as the core's `index`. */
export function coreRank({ pairs }: FoldedRanks, index: number): number {
  return index < pairs ? 2 * index + 1 : index + pairs
}

/** Returns the phase in which the core starts, counted from that in which pairs are folded, if there are any. */
export function coreStart({ pairs }: FoldedRanks): number {
  return pairs > 0 ? 1 : 0
}

/** The parts whose totals every rank of the core gets, and their places. */
interface Halving {
  readonly phase: number
  /** Returns the parts for a rank of the core, by its number in it. */
  partsOf(index: number): readonly number[]
  /** Returns the place of a total; undefined for a temporary one. */
  placeOf(part: number): number | undefined
}

/**
 * Emits the operations of a rank in a reduction by recursive halving. In step k a rank of the core and the one whose
 * number differs in bit k exchange parts: each sends those for ranks that agree with the other in the bits up to k. So
 * neighbors combine first and rank order remains. It takes {@link halvingPhases} phases.
 *
 * @returns the places of the totals, by part
 */
export function reduceByHalving(
  operations: RankOperations,
  ranks: number,
  rank: number,
  { phase, partsOf, placeOf }: Halving,
): ReadonlyMap<number, number> {
  const folded = foldedRanks(ranks)
  const { core, pairs } = folded
  const index = coreIndex(folded, rank)
  const held = new Map<number, number>()
  const send = (at: number, peer: number, parts: readonly number[]): void => {
    operations.send(rank, at, peer)
    for (const part of parts) operations.add(partialResult(part), held.get(part) ?? part)
  }
  const takeOver = (at: number, peer: number, parts: readonly number[]): void => {
    const first = operations.stage(rank, parts.length)
    operations.receive(rank, at, peer)
    parts.forEach((part, i) => {
      operations.add(partialResult(part), first + i)
    })
    const isLast = at === phase + halvingPhases(ranks) - 1
    parts.forEach((part, i) => {
      const [own, other] = [held.get(part) ?? part, first + i]
      const to = (isLast ? placeOf(part) : undefined) ?? operations.stage(rank)
      operations.combine(rank, at, part, peer < rank ? other : own, peer < rank ? own : other, to)
      held.set(part, to)
    })
  }
  if (index < 0) send(phase, rank + 1, partsFor(core, partsOf, 0, 1))
  else if (index < pairs) takeOver(phase, rank - 1, partsFor(core, partsOf, 0, 1))
  for (let size = 1, at = phase + coreStart(folded); index >= 0 && size < core; size *= 2, at++) {
    const peer = coreRank(folded, index ^ size)
    send(at, peer, partsFor(core, partsOf, index ^ size, 2 * size))
    takeOver(at, peer, partsFor(core, partsOf, index, 2 * size))
  }
  return held
}

/** Returns ceil(lg ranks), or one more. */
export function halvingPhases(ranks: number): number {
  const folded = foldedRanks(ranks)
  return Math.log2(folded.core) + coreStart(folded)
}

/** Lists the parts for all ranks of the core that are congruent to an index, ascending. */
export function partsFor(
  core: number,
  partsOf: (index: number) => readonly number[],
  index: number,
  modulus: number,
): readonly number[] {
  const parts: number[] = []
  for (let member = index % modulus; member < core; member += modulus) {
    for (const part of partsOf(member)) parts.push(part)
  }
  return parts.sort((a, b) => a - b)
}

/**
 * Returns the lowest bits of a number in reverse order. Pieces with such numbers are runs where those of a group of
 * ranks are gathered.
 */
export function reversed(number: number, bits: number): number {
  let result = 0
  for (let bit = 0; bit < bits; bit++) result = 2 * result + ((number >> bit) & 1)
  return result
}
