import { binaryRadices, type DigitOrder, requireCover } from './digits.js'
import type { Route } from './route.js'
import type { StrategyKind } from './strategy-kind.js'
import { checkOptions, listOption, wordOption } from './strategy-option.js'

/**
 * The ways of the ordinary allgather of Bruck et al.: digits of the distance from source to destination, counted around all
 * ranks; what no rank behind needs is left out. Suits any number of ranks, as all ranks do the same.
 */
export interface Allgather {
  readonly kind: 'allgather'
  /** Of the digits of the distance, lowest first; their product must be at least the number of ranks. Default: 2. */
  readonly radices?: readonly number[]
  /** Which digit of the distance is travelled first. Default `highest`. */
  readonly first?: DigitOrder
}

/** @see Bruck, Ho, Kipnis, Upfal, Weathersby 1997 */
export const allgather: StrategyKind<Allgather> = {
  help: 'allgather:radices=2.2.2,first=highest   digits of the distance between ranks, as in an ordinary allgather',
  initial: { kind: 'allgather' },
  options: { radices: listOption(2), first: wordOption(['lowest', 'highest']) },
  planningLimit: 2 ** 16,
  routeNeeds: 'ranks',
  check(strategy, ranks) {
    checkOptions(strategy, allgather.options)
    const { kind, radices } = strategy
    if (radices !== undefined) requireCover(kind, 'radices', radices, ranks, 'the ranks')
  },
  route({ radices, first = 'highest' }, { topology: { ranks } }) {
    return routeByDistance(radices ?? binaryRadices(ranks), first, ranks)
  },
}

function routeByDistance(radices: readonly number[], first: DigitOrder, ranks: number): Route {
  const hops = radices.length
  const weights = new Int32Array(hops + 1).fill(1)
  for (const [i, radix] of radices.entries())
    weights[i + 1] = Math.min(weights[i] * radix, Math.max(1, ranks))
  return {
    hops,
    hop(h, source, destination) {
      const distance = destination < source ? destination - source + ranks : destination - source
      const travelled =
        first === 'lowest' ? distance % weights[h + 1] : distance - (distance % weights[hops - 1 - h])
      const at = source + travelled
      return at < ranks ? at : at - ranks
    },
  }
}
