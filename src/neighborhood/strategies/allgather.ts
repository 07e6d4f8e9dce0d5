import { binaryRadices, type DigitOrder, OffsetDigits, requireCover } from './digits.js'
import type { StrategyKind } from './strategy-kind.js'
import { checkOptions, listOption, wordOption } from './strategy-option.js'

/**
 * The ways of the ordinary allgather of Bruck et al.: digits of the distance from source to destination,
 * counted around all ranks; what no rank behind needs is left out. Suits any number of ranks, as all ranks do
 * the same.
 */
export interface Allgather {
  readonly kind: 'allgather'
  /**
   * Of the digits of the distance, lowest first; their product must be at least the number of ranks. Default:
   * 2.
   */
  readonly radices?: readonly number[]
  /** Which digit of the distance is travelled first. Default `highest`. */
  readonly first?: DigitOrder
}

/** @see Bruck, Ho, Kipnis, Upfal, Weathersby 1997 */
export const allgatherStrategy: StrategyKind<Allgather> = {
  help: 'allgather:radices=2.2.2,first=highest   digits of the distance between ranks, as in an ordinary allgather',
  initial: { kind: 'allgather' },
  options: { radices: listOption(2), first: wordOption(['lowest', 'highest']) },
  planningLimit: 2 ** 16,
  routeNeeds: 'ranks',
  check(strategy, ranks) {
    checkOptions(strategy, allgatherStrategy.options)
    const { kind, radices } = strategy
    if (radices !== undefined) requireCover(kind, 'radices', radices, ranks, 'the ranks')
  },
  route({ radices, first = 'highest' }, { topology: { ranks } }) {
    const digits = new OffsetDigits(radices ?? binaryRadices(ranks), first, ranks)
    return {
      hops: digits.steps,
      hop: (h, source, destination) => digits.between(h, source, destination, ranks),
    }
  },
}
