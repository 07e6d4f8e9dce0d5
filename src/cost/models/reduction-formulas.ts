import {
  ceilLg,
  type Formula,
  type FormulaByModel,
  floorLg,
  isPowerOfTwo,
  type ModeledAlgorithm,
  sum,
} from './formulas.js'
import type { Terms } from './terms.js'

// The formulas for collectives that combine: Pjesivac-Grbovic 2007, tables 4.8 to 4.11, one row each. Where the printed
// form is in error, the formula is the corrected one; docs/study/formulas.md#corrections lists all of them.

/** The cost of halving a vector among C ranks, the largest power of two up to P: exchanging a half, a quarter etc. */
const halving = (P: number, bytes: number, cost: (bytes: number) => number): number =>
  sum(1, floorLg(P), (k) => cost(bytes / 2 ** k))

/** The time that combining takes while the vector is halved. */
const combined = ({ gamma }: Terms, P: number, bytes: number): number =>
  (1 - 1 / 2 ** floorLg(P)) * gamma * bytes

/** The extra time of ranks beyond C: their vectors are combined first, and they get the result last. */
const folded = ({ message, gamma }: Terms, P: number, bytes: number, resultBytes: number): number =>
  isPowerOfTwo(P) ? 0 : message(bytes) + gamma * bytes + message(resultBytes)

/** The time of a message that its receiver combines. */
const hop = ({ message, gamma }: Terms, bytes: number): number => message(bytes) + gamma * bytes

const doubling: Formula = (terms, { P, m }) =>
  isPowerOfTwo(P) ? ceilLg(P) * hop(terms, m) : (ceilLg(P) + 2) * hop(terms, m) - terms.gamma * m

/** The time of a chain whose ranks combine what arrives with their own data, and send it on. */
const combiningChain: Pick<FormulaByModel, 'hockney' | 'loggp'> = {
  hockney: (terms, { P, ms, ns }) => (P + ns - 2) * hop(terms, ms),
  loggp: (terms, { P, ms, ns }) => {
    const { o, g, gamma, bytes } = terms
    return (P - 1) * hop(terms, ms) + (ns - 1) * Math.max(g, 2 * o + bytes(ms) + gamma * ms)
  },
}

export const reductionFormulas: readonly ModeledAlgorithm[] = [
  // reduce
  {
    id: 'reduce-linear',
    collective: 'reduce',
    source: 'table 4.8 (flat tree)',
    segmented: true,
    time: {
      hockney: (terms, { P, ms, ns }) => ns * (P - 1) * hop(terms, ms),
      loggp: ({ L, o, g, gamma, bytes }, { P, ms, ns }) =>
        o + bytes(ms) + L + ns * Math.max(g, (P - 1) * (o + bytes(ms) + gamma * ms)),
      plogp: ({ L, g, or, gamma }, { P, ms, ns }) => L + (P - 1) * ns * Math.max(g(ms), or(ms) + gamma * ms),
    },
  },
  {
    id: 'reduce-chain',
    collective: 'reduce',
    source: 'table 4.8 (pipeline)',
    segmented: true,
    time: {
      ...combiningChain,
      plogp: ({ L, g, os, or, gamma }, { P, ms, ns }) => {
        const taken = Math.max(g(ms), or(ms) + gamma * ms)
        return (P - 1) * (L + taken) + (ns - 1) * (taken + os(ms))
      },
    },
  },
  {
    id: 'reduce-tree',
    collective: 'reduce',
    source: 'table 4.8 (binomial)',
    segmented: true,
    time: {
      hockney: (terms, { P, ms, ns }) => ns * ceilLg(P) * hop(terms, ms),
      loggp: ({ L, o, g, gamma, bytes }, { P, ms, ns }) =>
        ceilLg(P) * (o + L + ns * (bytes(ms) + Math.max(g, o + gamma * ms))),
      plogp: ({ L, g, os, or, gamma }, { P, ms, ns }) =>
        ceilLg(P) * (L + ns * Math.max(g(ms), or(ms) + gamma * ms + os(ms))),
    },
  },
  {
    id: 'reduce-binary',
    collective: 'reduce',
    source: 'table 4.8',
    segmented: true,
    time: {
      hockney: (terms, { P, ms, ns }) => 2 * (ceilLg(P + 1) + ns - 2) * hop(terms, ms),
      loggp: ({ L, o, g, gamma, bytes }, { P, ms, ns }) => {
        const first = L + 3 * o + bytes(ms) + 2 * gamma * ms
        const others = bytes(ms) + Math.max(g, 3 * o + 2 * gamma * ms)
        return (ceilLg(P + 1) - 1) * (first + (ns - 1) * others)
      },
      plogp: ({ L, g, os, or, gamma }, { P, ms, ns }) => {
        const taken = 2 * Math.max(g(ms), or(ms) + gamma * ms)
        return (ceilLg(P + 1) - 1) * (L + taken) + (ns - 1) * (os(ms) + taken)
      },
    },
  },
  {
    id: 'reduce-rabenseifner',
    collective: 'reduce',
    source: 'table 4.8',
    time: (terms, { P, m }) =>
      2 * halving(P, m, terms.message) + combined(terms, P, m) + (isPowerOfTwo(P) ? 0 : hop(terms, m)),
  },

  // reduce-scatter
  {
    id: 'reduce-scatter-recursive-halving',
    collective: 'reduce-scatter',
    source: 'table 4.9',
    time: (terms, { P, m }) =>
      halving(P, P * m, terms.message) + combined(terms, P, P * m) + folded(terms, P, P * m, m),
  },
  {
    id: 'reduce-scatter-ring',
    collective: 'reduce-scatter',
    source: 'table 4.9',
    time: (terms, { P, m }) => (P - 1) * hop(terms, m) + P * terms.delta * m,
  },

  // allreduce
  { id: 'allreduce-recursive-doubling', collective: 'allreduce', source: 'table 4.10', time: doubling },
  {
    id: 'allreduce-ring',
    collective: 'allreduce',
    source: 'table 4.10',
    time: ({ message, gamma }, { P, q }) => 2 * (P - 1) * message(q) + (P - 1) * gamma * q,
  },
  {
    id: 'allreduce-ring-segmented',
    collective: 'allreduce',
    source: 'table 4.10 (ring with segmentation)',
    segmented: true,
    isCutByRanks: true,
    time: {
      hockney: (terms, { P, ms, ns, q }) => (P + ns - 2) * hop(terms, ms) + (P - 1) * terms.message(q),
      loggp: ({ o, g, gamma, bytes, message }, { P, ms, ns, q }) =>
        (P - 1) * message(ms) + (ns - 1) * (Math.max(g, gamma * ms + o) + bytes(ms)) + (P - 1) * message(q),
      plogp: ({ L, g, gamma }, { P, ms, ns, q }) =>
        (P - 1) * (L + g(ms) + gamma * ms) + (ns - 1) * (g(ms) + gamma * ms) + (P - 1) * (L + g(q)),
    },
  },
  {
    id: 'allreduce-rabenseifner',
    collective: 'allreduce',
    source: 'table 4.10',
    time: (terms, { P, m }) =>
      halving(P, m, terms.message) +
      halving(P, m, terms.step) +
      combined(terms, P, m) +
      folded(terms, P, m, m),
  },

  // scan
  {
    id: 'scan-chain',
    collective: 'scan',
    source: 'table 4.11 (linear, with and without segments)',
    segmented: true,
    time: {
      ...combiningChain,
      plogp: (terms, { P, ms, ns }) => {
        const { g, os, or, gamma } = terms
        return (P - 1) * hop(terms, ms) + (ns - 1) * Math.max(g(ms), os(ms) + or(ms) + gamma * ms)
      },
    },
  },
  {
    id: 'scan-recursive-doubling',
    collective: 'scan',
    source: 'table 4.11 (binomial)',
    time: {
      hockney: (terms, { P, m }) => ceilLg(P) * hop(terms, m),
      loggp: ({ o, g, gamma, message }, { P, m }) => ceilLg(P) * (message(m) + Math.max(g, o + gamma * m)),
      plogp: ({ g, os, gamma, message }, { P, m }) =>
        ceilLg(P) * (message(m) + Math.max(g(m), os(m) + gamma * m)),
    },
  },
]
