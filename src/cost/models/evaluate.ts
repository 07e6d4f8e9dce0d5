import type { Formula, FormulaByModel, Sizes } from './modelled-algorithm.js'
import type { Terms } from './terms.js'

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
