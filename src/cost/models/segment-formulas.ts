import { ceilLg } from './modelled-algorithm.js'
import type { HockneyTerms, LogGPTerms } from './terms.js'

/** The lengths of segments where the derivative of a formula is 0, on each side of a maximum, and where sides meet. */
interface SegmentFormulas {
  readonly hockney?: (terms: HockneyTerms, P: number, m: number) => readonly number[]
  readonly loggp?: (terms: LogGPTerms, P: number, m: number) => readonly number[]
}

const { sqrt } = Math
/** The levels of a binary tree less 2: the number of waits for a segment. */
const waits = (P: number): number => ceilLg(P + 1) - 2

/** A chain whose ranks combine, in the model of Hockney. */
const combiningChain: SegmentFormulas['hockney'] = ({ alpha, beta, gamma }, P, m) => [
  sqrt((m * alpha) / ((P - 2) * (beta + gamma))),
]

const reducingChain: SegmentFormulas = {
  hockney: combiningChain,
  loggp: ({ o, g, G, gamma }, P, m) => [
    sqrt((m * (2 * o - G)) / ((P - 2) * (G + gamma))),
    sqrt((m * g) / ((P - 1) * (G + gamma))),
    (g - 2 * o + G) / (G + gamma),
  ],
}

const reducingBinary: SegmentFormulas = {
  hockney: ({ alpha, beta, gamma }, P, m) => [sqrt((m * alpha) / (waits(P) * (beta + gamma)))],
  loggp: ({ o, g, G, gamma }, _, m) => [sqrt((m * (g - G)) / (2 * gamma)), (g - 3 * o) / (2 * gamma)],
}

/** A pass up a binary tree and down again. */
const upAndDownBinary: SegmentFormulas = {
  hockney: ({ alpha, beta, gamma }, P, m) => [sqrt((m * 2 * alpha) / (waits(P) * (2 * beta + gamma)))],
  loggp: ({ o, g, G, gamma }, P, m) => {
    const levels = waits(P) + 1
    const down = o + 2 * (g - G)
    return [
      sqrt((m * (levels * (g - G) + down)) / (2 * levels * gamma + 2 * waits(P) * G)),
      sqrt((m * (levels * (3 * o - G) + down)) / (2 * waits(P) * G)),
      (g - 3 * o) / (2 * gamma),
    ]
  },
}

/**
 * The lengths of segments that may be the best, by algorithm. A length that does not exist is not a number, or
 * infinite; the caller compares the times. Algorithms that are not listed are best without segments in these models.
 *
 * @see Pjesivac-Grbovic 2007 §5.2.2, tables 5.1 to 5.3; docs/cost-models.md#segments
 */
export const segmentFormulas: Readonly<Record<string, SegmentFormulas>> = {
  'bcast-chain': {
    hockney: ({ alpha, beta }, P, m) => [sqrt((m * alpha) / ((P - 2) * beta))],
    loggp: ({ o, g, G }, P, m) => [sqrt((m * (o + g - G)) / ((P - 2) * G))],
  },
  'bcast-binary': {
    hockney: ({ alpha, beta }, P, m) => [sqrt((m * alpha) / (waits(P) * beta))],
    loggp: ({ o, g, G }, P, m) => [sqrt((m * (o + 2 * (g - G))) / (2 * waits(P) * G))],
  },
  'bcast-split-binary': {
    hockney: ({ alpha, beta }, P, m) => [sqrt((m * alpha) / (2 * waits(P) * beta))],
    loggp: ({ o, g, G }, P, m) => [sqrt((m * (o + 2 * (g - G))) / (4 * waits(P) * G))],
  },
  'reduce-linear': {
    loggp: ({ o, g, G, gamma }, P, m) => [
      sqrt((m * (P - 1) * (o - G)) / G),
      sqrt((m * g) / G),
      (g / (P - 1) - o + G) / (G + gamma),
    ],
  },
  'reduce-chain': reducingChain,
  'reduce-binary': reducingBinary,
  'reduce-in-order-binary': reducingBinary,
  'allreduce-binary': upAndDownBinary,
  'allreduce-ring-segmented': {
    hockney: combiningChain,
    loggp: ({ o, g, G, gamma }, P, m) => [
      sqrt((m * (g - G)) / ((P - 2) * G)),
      sqrt((m * (o - G)) / ((P - 2) * G - gamma)),
      (g - o) / gamma,
    ],
  },
  'scan-chain': reducingChain,
  'exscan-chain': reducingChain,
}
