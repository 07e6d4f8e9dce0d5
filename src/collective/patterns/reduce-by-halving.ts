import { partialResult } from '../../schedule/ir.js'
import type { RankOperations } from './rank-operations.js'

/**
 * How algorithms for powers of two serve any number of ranks. The core is the largest power of two; for every
 * rank beyond it, one pair of the first ranks is folded: the even rank of a pair hands what it has to the odd
 * one, which takes part for both. Adjacent ranks are folded, so that the order of ranks remains.
 *
 * @see Pjesivac-Grbovic 2007 §4.1; Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication
 *   Operations in MPICH
 */
export interface FoldedRanks {
  /** A power of two. */
  readonly core: number
  /** Pairs folded. */
  readonly pairs: number
}

export function foldedRanks(ranks: number): FoldedRanks {
  const core = 2 ** (31 - Math.clz32(ranks))
  return { core, pairs: ranks - core }
}

/** The number of a rank in the core; -1 if another rank takes part for it. */
export function coreIndex({ pairs }: FoldedRanks, rank: number): number {
  if (rank >= 2 * pairs) return rank - pairs
  return rank % 2 === 1 ? (rank - 1) / 2 : -1
}

/** The rank that takes part as the core's `index`. */
export function coreRank({ pairs }: FoldedRanks, index: number): number {
  return index < pairs ? 2 * index + 1 : index + pairs
}

/** The phase in which the core starts, counted from that in which pairs are folded, if there are any. */
export function coreStart({ pairs }: FoldedRanks): number {
  return pairs > 0 ? 1 : 0
}

/** What is reduced: for every rank of the core the parts whose totals it is to get. */
export interface Halving {
  readonly phase: number
  /** Parts for a rank of the core, by its number in it. */
  partsOf(index: number): readonly number[]
  /** The place of a total; a temporary one unless given. */
  placeOf(part: number): number | undefined
}

/**
 * The operations of a rank in a reduction by recursive halving: in step k a rank of the core and the one
 * whose number differs in bit k send each other the parts that the other is to continue with, those for ranks
 * that agree with it in the bits up to k. So neighbors combine first and rank order remains. As many phases
 * as {@link halvingPhases}.
 *
 * @returns where the totals are, by part
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

/** ceil(lg ranks), or one more. */
export function halvingPhases(ranks: number): number {
  const folded = foldedRanks(ranks)
  return Math.log2(folded.core) + coreStart(folded)
}

/** Parts for all ranks of the core that are congruent to an index, ascending. */
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
 * The lowest bits of a number in reverse order: pieces so numbered are runs where those of a group of ranks are
 * gathered.
 */
export function reversed(number: number, bits: number): number {
  let result = 0
  for (let bit = 0; bit < bits; bit++) result = 2 * result + ((number >> bit) & 1)
  return result
}
