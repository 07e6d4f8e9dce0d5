import {
  ceilLg,
  doubledBlocks,
  floorLg,
  isPowerOfTwo,
  type ModeledAlgorithm,
  type Sizes,
  sum,
} from './formulas.js'
import type { Terms } from './terms.js'

// The formulas for barrier and for collectives that move blocks without combining: Pjesivac-Grbovic 2007, tables 4.2 to
// 4.7, one row each. Where the printed form is in error, the formula is the corrected one;
// docs/study/formulas.md#corrections lists all of them.

const onlyPowersOfTwo = (ranks: number): string | null =>
  isPowerOfTwo(ranks) ? null : `it needs a power of two as number of ranks, got ${ranks}`

/** The time of a segmented broadcast down a balanced binary tree: filling it, then one segment after the other. */
const downBinaryTree = ({ message, gap, forward }: Terms, { P, ms }: Sizes, segments: number): number =>
  (ceilLg(P + 1) - 1) * (message(ms) + gap(ms)) + (segments - 1) * forward(ms, 2)

/** The time of one message to or from each of the others. */
const linear = ({ message, gap }: Terms, { P, m }: Sizes): number => message(m) + (P - 2) * gap(m)

export const movementFormulas: readonly ModeledAlgorithm[] = [
  // barrier
  {
    id: 'barrier-linear',
    collective: 'barrier',
    source: 'table 4.2 (flat tree), the least time',
    time: ({ message, gap }, { P }) => 2 * message(0) + (P - 2) * gap(0),
  },
  {
    id: 'barrier-double-ring',
    collective: 'barrier',
    source: 'table 4.2',
    time: ({ turn }, { P }) => 2 * P * turn(0),
  },
  {
    id: 'barrier-recursive-doubling',
    collective: 'barrier',
    source: 'table 4.2',
    time: ({ turn }, { P }) => (ceilLg(P) + (isPowerOfTwo(P) ? 0 : 2)) * turn(0),
  },
  {
    id: 'barrier-dissemination',
    collective: 'barrier',
    source: 'table 4.2 (Bruck)',
    time: ({ turn }, { P }) => ceilLg(P) * turn(0),
  },

  // broadcast
  {
    id: 'bcast-linear',
    collective: 'bcast',
    source: 'table 4.3',
    segmented: true,
    time: ({ message, gap }, { P, ms, ns }) => message(ms) + (ns * (P - 1) - 1) * gap(ms),
  },
  {
    id: 'bcast-chain',
    collective: 'bcast',
    source: 'table 4.3 (pipeline)',
    segmented: true,
    time: ({ message, forward }, { P, ms, ns }) => (P - 1) * message(ms) + (ns - 1) * forward(ms, 1),
  },
  {
    id: 'bcast-binomial',
    collective: 'bcast',
    source: 'table 4.3',
    segmented: true,
    time: ({ message, gap }, { P, ms, ns }) => ceilLg(P) * (message(ms) + (ns - 1) * gap(ms)),
  },
  {
    id: 'bcast-binary',
    collective: 'bcast',
    source: 'table 4.3',
    segmented: true,
    time: (terms, sizes) => downBinaryTree(terms, sizes, sizes.ns),
  },
  {
    id: 'bcast-split-binary',
    collective: 'bcast',
    source: 'equations 4.8 to 4.10',
    segmented: true,
    time: (terms, sizes) => {
      const half = sizes.m / 2
      const ms = Math.min(sizes.ms, half)
      return downBinaryTree(terms, { ...sizes, ms }, sizes.halfNs) + terms.message(half)
    },
  },

  // scatter, gather
  { id: 'scatter-linear', collective: 'scatter', source: 'table 4.4', time: linear },
  {
    id: 'scatter-binomial',
    collective: 'scatter',
    source: 'table 4.4',
    time: ({ message, gap }, { P, m }) =>
      message(m) +
      sum(1, ceilLg(P) - 1, (k) => {
        const bytes = doubledBlocks(P, k) * m
        return Math.max(message(bytes), gap(bytes))
      }),
  },
  { id: 'gather-linear', collective: 'gather', source: 'table 4.5', time: linear },
  {
    id: 'gather-linear-sync',
    collective: 'gather',
    source: 'equations 4.11 and 4.13, table 4.5 (linear with synchronization)',
    segmented: true,
    time: {
      hockney: ({ message }, { P, m }) => message(0) + (P - 1) * (message(0) + message(m)),
      loggp: ({ L, o, g, G, bytes }, { P, m, ms }) =>
        g + m * G < L + 2 * (o + ms * G)
          ? (P - 1) * (2 * L + 4 * o + bytes(ms)) + g + bytes(m - ms)
          : 2 * L + 3 * o + (P - 1) * (o + g + Math.max(0, m - 2) * G),
      plogp: ({ L, g }, { P, m, ms }) =>
        g(m - ms) < L + g(0)
          ? (P - 1) * (2 * L + g(ms) + g(0)) + g(m - ms)
          : 2 * L + g(0) + (P - 1) * (g(ms) + g(m - ms)),
    },
  },
  {
    id: 'gather-binomial',
    collective: 'gather',
    source: 'table 4.5',
    time: ({ message }, { P, m }) => sum(0, ceilLg(P) - 1, (k) => message(doubledBlocks(P, k) * m)),
  },

  // allgather
  {
    id: 'allgather-bruck',
    collective: 'allgather',
    source: 'table 4.6',
    time: ({ step, delta }, { P, m }) =>
      sum(0, ceilLg(P) - 1, (k) => step(doubledBlocks(P, k) * m)) + P * delta * m,
  },
  {
    id: 'allgather-recursive-doubling',
    collective: 'allgather',
    source: 'equations 4.15 to 4.17',
    refuses: onlyPowersOfTwo,
    time: ({ step }, { P, m }) => sum(0, ceilLg(P) - 1, (k) => step(2 ** k * m)),
  },
  {
    id: 'allgather-ring',
    collective: 'allgather',
    source: 'table 4.6',
    time: ({ message }, { P, m }) => (P - 1) * message(m),
  },
  {
    id: 'allgather-neighbor-exchange',
    collective: 'allgather',
    source: 'table 4.6',
    refuses: (ranks) => (ranks % 2 === 0 ? null : `it needs an even number of ranks, got ${ranks}`),
    time: ({ message }, { P, m }) => message(m) + (P / 2 - 1) * message(2 * m),
  },

  // alltoall
  {
    id: 'alltoall-linear',
    collective: 'alltoall',
    source: 'table 4.7',
    time: {
      hockney: ({ message }, { P, m }) => (P - 1) * message(m),
      loggp: ({ L, o, g, bytes }, { P, m }) => L + 2 * o + (P - 1) * (bytes(m) + 2 * g),
      plogp: ({ L, g }, { P, m }) => L + 2 * (P - 1) * g(m),
    },
  },
  {
    id: 'alltoall-pairwise',
    collective: 'alltoall',
    source: 'table 4.7',
    time: ({ turn }, { P, m }) => (P - 1) * turn(m),
  },
  {
    id: 'alltoall-bruck',
    collective: 'alltoall',
    source: 'table 4.7',
    time: ({ step, delta }, { P, m }) => {
      const half = (P / 2) * m
      const rest = (P - 2 ** floorLg(P)) * m
      const last = isPowerOfTwo(P) ? 0 : step(rest) + delta * rest
      return floorLg(P) * (step(half) + delta * half) + P * delta * m + last
    },
  },
]
