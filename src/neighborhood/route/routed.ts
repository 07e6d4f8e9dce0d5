import { RankweaveError, shown } from '../../errors.js'
import type { Route } from './route.js'

/** Digits of the rank number are corrected one by one: at most the sum of `radix - 1` messages per rank, whatever the degree. */
export interface Routed {
  readonly kind: 'routed'
  /** Of the digits, lowest first; their product must be at least the number of ranks. Default: 2 as often as needed. */
  readonly radices?: readonly number[]
  /** Which digit is corrected first. Default `lowest`. */
  readonly first?: 'lowest' | 'highest'
}

/**
 * Mixed-radix digits of the rank number, corrected one per hop. A number past the last rank stands for the rank with the
 * highest digit one lower, so any number of ranks will do.
 *
 * @throws ERR_STRATEGY
 * @see Selvitopi and Aykanat 2019 (virtual process topologies); the crystal router of gslib
 */
export function routedRoute(ranks: number, { radices = binary(ranks), first = 'lowest' }: Routed): Route {
  checkRadices(ranks, radices)
  if (first !== 'lowest' && first !== 'highest') {
    throw new RankweaveError('ERR_STRATEGY', `routed: expected first lowest or highest, got ${shown(first)}`)
  }
  const hops = radices.length
  const weights = new Float64Array(hops + 1).fill(1)
  for (const [i, radix] of radices.entries()) weights[i + 1] = weights[i] * radix
  const top = topWeight(ranks, weights)
  const inRange = (number: number): number => (number < ranks ? number : number - top)
  if (first === 'lowest') {
    return {
      hops,
      hop(h, source, destination) {
        if (h === hops - 1) return destination
        const weight = weights[h + 1]
        return inRange(source - (source % weight) + (destination % weight))
      },
    }
  }
  return {
    hops,
    hop(h, source, destination) {
      const weight = weights[hops - 1 - h]
      return inRange(destination - (destination % weight) + (source % weight))
    },
  }
}

/** The weight of the highest digit that is not always 0. */
function topWeight(ranks: number, weights: Float64Array): number {
  let top = 1
  for (const weight of weights) if (weight < ranks) top = weight
  return top
}

function checkRadices(ranks: number, radices: readonly number[]): void {
  let product = 1
  for (const radix of Array.isArray(radices) ? radices : [0]) {
    if (!Number.isInteger(radix) || radix < 2) {
      throw new RankweaveError(
        'ERR_STRATEGY',
        `routed: expected radices, integers >= 2, got ${shown(radices)}`,
      )
    }
    product *= radix
  }
  if (product < ranks) {
    throw new RankweaveError(
      'ERR_STRATEGY',
      `routed: expected radices whose product is at least ${ranks}, the ranks, got ${radices.join('.')}, product ${product}`,
    )
  }
}

function binary(ranks: number): number[] {
  const radices: number[] = []
  for (let product = 1; product < ranks; product *= 2) radices.push(2)
  return radices
}
