import type { OptionTable } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'
import {
  binaryRadices,
  type DigitOrder,
  Digits,
  messagesByDigit,
  orderOption,
  radicesOption,
  requireCover,
  severalRadices,
  similarRadices,
  switched,
} from './digits.js'
import type { Route, StrategyKind } from './strategy-kind.js'

/**
 * Corrects digits of the rank number one by one, with at most the sum of `radix - 1` messages per rank, whatever the
 * degree.
 */
export interface Routed {
  readonly kind: 'routed'
  /**
   * The radices of the digits, lowest first; their product must be at least the number of ranks. Default: 2 as often as
   * needed.
   */
  readonly radices?: readonly number[]
  /** The digit that is corrected first. Default `lowest`. */
  readonly first?: DigitOrder
}

const options = {
  radices: radicesOption('the rank', 'the number of ranks'),
  first: orderOption,
} satisfies OptionTable<Omit<Routed, 'kind'>>

/** @see Selvitopi and Aykanat 2019 (virtual process topologies); the crystal router of gslib */
export const routed: StrategyKind<Routed> = {
  help: 'routed:radices=4.4.4,first=lowest   digits of the rank, one after the other',
  options,
  planningLimit: 2 ** 16,
  routeNeeds: 'ranks',
  check({ kind, radices }, ranks) {
    if (radices !== undefined) requireCover(kind, 'radices', radices, ranks, 'the ranks')
  },
  route(strategy, { topology: { ranks } }) {
    const { radices = binaryRadices(ranks), first } = withDefaults(options, strategy)
    return routeByDigits(new Digits(radices, first, ranks), ranks)
  },
  place: 3,
  candidates: ({ ranks }) =>
    severalRadices(ranks).flatMap((radices): Routed[] => [
      { kind: 'routed', radices, first: 'lowest' },
      { kind: 'routed', radices, first: 'highest' },
    ]),
  mostMessages: ({ radices, first }) => messagesByDigit(radices!, first),
  similar: (strategy, { ranks }) => [
    ...similarRadices(strategy.radices, ranks).map((radices) => ({ ...strategy, radices })),
    ...switched(options, strategy),
  ],
}

function routeByDigits(digits: Digits, ranks: number): Route {
  return {
    hops: digits.steps,
    hop: (h, source, destination) => digits.between(h, source, destination, ranks),
  }
}
