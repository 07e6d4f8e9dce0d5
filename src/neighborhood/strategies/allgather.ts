import { type OptionTable, wordOption } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'
import {
  binaryRadices,
  type DigitOrder,
  digitOrders,
  messagesByDigit,
  OffsetDigits,
  radicesOption,
  requireCover,
  severalRadices,
  similarRadices,
  switched,
} from './digits.js'
import type { StrategyKind } from './strategy-kind.js'

/**
 * The ways of the ordinary allgather of Bruck et al.: digits of the distance from source to destination, counted around
 * all ranks. Blocks that no further rank needs are left out. It suits any number of ranks, because all ranks do the
 * same.
 */
export interface Allgather {
  readonly kind: 'allgather'
  /**
   * The radices of the distance's digits, lowest first; their product must be at least the number of ranks. Default: 2.
   */
  readonly radices?: readonly number[]
  /** The digit of the distance that is travelled first. Default `highest`. */
  readonly first?: DigitOrder
}

const options = {
  radices: radicesOption('the distance between ranks', 'the number of ranks'),
  first: wordOption(digitOrders, { help: 'which digit is travelled first', default: 'highest' }),
} satisfies OptionTable<Omit<Allgather, 'kind'>>

/** @see Bruck, Ho, Kipnis, Upfal, Weathersby 1997 */
export const allgatherStrategy: StrategyKind<Allgather> = {
  help: 'allgather:radices=2.2.2,first=highest   digits of the distance between ranks, as in an ordinary allgather',
  options,
  planningLimit: 2 ** 16,
  routeNeeds: 'ranks',
  check({ kind, radices }, ranks) {
    if (radices !== undefined) requireCover(kind, 'radices', radices, ranks, 'the ranks')
  },
  route(strategy, { topology: { ranks } }) {
    const { radices = binaryRadices(ranks), first } = withDefaults(options, strategy)
    const digits = new OffsetDigits(radices, first, ranks)
    return {
      hops: digits.steps,
      hop: (h, source, destination) => digits.between(h, source, destination, ranks),
    }
  },
  place: 1,
  candidates: ({ ranks }) =>
    severalRadices(ranks).flatMap((radices): Allgather[] => [
      { kind: 'allgather', radices, first: 'highest' },
      { kind: 'allgather', radices, first: 'lowest' },
    ]),
  mostMessages: ({ radices, first }) => messagesByDigit(radices!, first),
  similar: (strategy, { ranks }) => [
    ...similarRadices(strategy.radices, ranks).map((radices) => ({ ...strategy, radices })),
    ...switched(options, strategy),
  ],
}
