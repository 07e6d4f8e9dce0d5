import type { Collective } from '../../schedule/specification.js'
import type { HockneyTerms, LogGPTerms, PLogPTerms, Terms } from './terms.js'

/** The arguments of formulas, in the letters of the source. */
export interface Sizes {
  /** The number of ranks, at least 2. */
  readonly P: number
  /** The bytes of the vector of bcast, reduce, allreduce and scan, or of one rank's block for one rank otherwise. */
  readonly m: number
  /** The bytes of a segment, above 0 unless m is 0; m if there is one segment. */
  readonly ms: number
  /** The number of segments of m. */
  readonly ns: number
  /** The number of segments of one half of m. */
  readonly halfNs: number
  /** The bytes of the largest of P pieces of m. */
  readonly q: number
}

/** A time in nanoseconds. */
export type Formula<T = Terms> = (terms: T, sizes: Sizes) => number

/** A formula per model, if one formula in the common terms does not serve all. */
export interface FormulaByModel {
  readonly hockney: Formula<HockneyTerms>
  readonly loggp: Formula<LogGPTerms>
  readonly plogp: Formula<PLogPTerms>
}

/** An algorithm whose time is known in closed form. */
export interface ModeledAlgorithm {
  /** The registry's id if the algorithm has a schedule (`algorithmOf`), else one in the same style. */
  readonly id: string
  readonly collective: Collective
  /** The place where the formula is printed. */
  readonly source: string
  /** Whether its time depends on segments. */
  readonly segmented?: true
  /** Whether it cuts the data into P pieces, and each of them into segments. */
  readonly isCutByRanks?: true
  /** Returns why it cannot serve a number of ranks, or null. Default: it serves all. */
  refuses?(ranks: number): string | null
  readonly time: Formula | FormulaByModel
}

/** Returns ceil(lg n) of a positive integer. */
export function ceilLg(n: number): number {
  return 32 - Math.clz32(n - 1)
}

/** Returns floor(lg n) of a positive integer. */
export function floorLg(n: number): number {
  return 31 - Math.clz32(n)
}

export function isPowerOfTwo(n: number): boolean {
  return 2 ** floorLg(n) === n
}

export function sum(first: number, last: number, term: (k: number) => number): number {
  let total = 0
  for (let k = first; k <= last; k++) total += term(k)
  return total
}

/** Returns the blocks that a rank passes on in step k of doubling, 0 to ceil(lg P) - 1: 2^k, or the rest at last. */
export function doubledBlocks(P: number, k: number): number {
  return Math.min(2 ** k, P - 2 ** k)
}

/** Returns the time by a formula, in nanoseconds. */
export function evaluate(time: Formula | FormulaByModel, terms: Terms, sizes: Sizes): number {
  if (typeof time === 'function') return time(terms, sizes)
  switch (terms.model) {
    case 'hockney':
      return time.hockney(terms, sizes)
    case 'loggp':
      return time.loggp(terms, sizes)
    case 'plogp':
      return time.plogp(terms, sizes)
  }
}

/**
 * Returns the arguments of formulas. There are as many segments as needed, and the last may be shorter.
 *
 * @param segmentBytes above 0; longer than the data means one segment
 */
export function sizesOf(ranks: number, bytes: number, segmentBytes: number): Sizes {
  const ms = Math.min(segmentBytes, bytes)
  const ns = bytes === 0 ? 1 : Math.ceil(bytes / ms)
  return { P: ranks, m: bytes, ms, ns, halfNs: Math.ceil(ns / 2), q: Math.ceil(bytes / ranks) }
}

/** Returns the bytes of a segment that is not cut: all data, or a piece of them. */
export function uncutBytes({ isCutByRanks }: ModeledAlgorithm, ranks: number, bytes: number): number {
  return isCutByRanks === true ? Math.ceil(bytes / ranks) : bytes
}

/** Returns the arguments of formulas with unrounded numbers of segments, for functions that are minimized. */
export function smoothSizesOf(ranks: number, bytes: number, segmentBytes: number): Sizes {
  const ns = bytes / segmentBytes
  return {
    P: ranks,
    m: bytes,
    ms: segmentBytes,
    ns,
    halfNs: Math.max(1, ns / 2),
    q: Math.ceil(bytes / ranks),
  }
}
