import { type Interval, meanOf, medianInterval, medianOf } from '../base/search.js'
import type { Communicator } from '../handles/communicator.js'
import type { SparseProduct } from './sparse-product.js'

/** The measured time of a product. */
export interface ProductTime {
  /** The exchange: `planned`, `direct` or `ordinary allgather`. */
  readonly name: string
  /** The time of one product, between two barriers, on the slowest rank: median of the turns. */
  readonly seconds: number
  /** The times of all turns. Turns of all products with the same number were timed one after the other. */
  readonly turnSeconds: readonly number[]
  /** The time that all ranks together spent multiplying and packing for one product: mean of the turns. */
  readonly localSeconds: number
  /** The count of numbers, on all ranks, whose bits differ from those of the first product. */
  readonly differing: number
}

/** The default number of turns of every product, if all together take no longer than {@link mostSeconds}. */
const usualTurns = 9
const mostSeconds = 2
/** Products are repeated until a turn takes this many seconds. */
const leastTurnSeconds = 0.005

/**
 * Times products that compute the same, in turn, so that other load of the machine affects all of them. Collective.
 *
 * @param expected the result of the first product
 * @param turns of every product; default: as many as 2 seconds allow, at least 1 and at most {@link usualTurns}
 */
export async function timeProducts(
  world: Communicator,
  products: readonly { readonly name: string; readonly product: SparseProduct }[],
  b: Float64Array,
  expected: Float64Array,
  turns?: number,
): Promise<readonly ProductTime[]> {
  const into = new Float64Array(expected.length)
  const samples = products.map(() => ({ seconds: [] as number[], local: [] as number[], differing: 0 }))
  const turn = async (i: number, repeats: number) => {
    const { product } = products[i]
    const before = product.localSeconds
    const seconds = await secondsOfTurn(world, product, b, into, repeats)
    return { seconds, local: (product.localSeconds - before) / repeats }
  }
  let total = 0
  for (let i = 0; i < products.length; i++) {
    // The first turn warms up; the second serves as a forecast.
    await turn(i, 1)
    samples[i].differing = differences(into, expected)
    total += (await turn(i, 1)).seconds
  }
  const repeats = Math.max(1, Math.ceil((leastTurnSeconds * products.length) / total))
  const fitting = Math.floor(mostSeconds / (repeats * total))
  const most = turns ?? Math.max(1, Math.min(usualTurns, fitting % 2 === 0 ? fitting - 1 : fitting))
  for (let t = 0; t < most; t++) {
    for (let k = 0; k < products.length; k++) {
      // Each turn begins with another product, so that none always follows the same one.
      const i = (k + t) % products.length
      const { seconds, local } = await turn(i, repeats)
      samples[i].seconds.push(seconds)
      samples[i].local.push(local)
    }
  }
  const sums = await world.allreduce(
    Float64Array.from(samples.flatMap(({ local, differing }) => [meanOf(local), differing])),
    'sum',
  )
  return products.map(({ name }, i) => ({
    name,
    seconds: medianOf(samples[i].seconds),
    turnSeconds: samples[i].seconds,
    localSeconds: sums[2 * i],
    differing: sums[2 * i + 1],
  }))
}

/**
 * Returns the seconds of a product between two barriers on the slowest rank, the same on all ranks. Collective.
 *
 * @param repeats products between the barriers
 */
export async function secondsOfTurn(
  world: Communicator,
  product: SparseProduct,
  b: Float64Array,
  into: Float64Array,
  repeats: number,
): Promise<number> {
  await world.barrier()
  const begin = performance.now()
  for (let repeat = 0; repeat < repeats; repeat++) await product.multiply(b, into)
  await world.barrier()
  return world.allreduce((performance.now() - begin) / 1000 / repeats, 'max')
}

function differences(actual: Float64Array, expected: Float64Array): number {
  let count = 0
  for (let i = 0; i < expected.length; i++) if (!Object.is(actual[i], expected[i])) count++
  return count
}

/** A finding from the turns of two products: `no difference seen` if the interval of the ratio includes 1. */
type Verdict = 'faster' | 'slower' | 'no difference seen'

/** A product compared with another one, turn by turn. */
export interface TurnRatio {
  /** The other product's {@link ProductTime.name}. */
  readonly name: string
  /** The median over turns of the other's time divided by this product's time in the same turn; 2 is twice as fast. */
  readonly ratio: number
  /** The 95% interval of that median; null for fewer than 6 turns. */
  readonly interval: Interval | null
  /** The verdict on this product, compared with the other. */
  readonly verdict: Verdict
}

/**
 * Compares the first product with every other. Turns with the same number ran one after the other, so load of other
 * programs affects both times of a ratio.
 */
export function turnRatios(times: readonly ProductTime[]): readonly TurnRatio[] {
  const [first, ...others] = times
  return others.map(({ name, turnSeconds }) => {
    const ratios = turnSeconds.map((seconds, turn) => seconds / first.turnSeconds[turn])
    const interval = medianInterval(ratios)
    return { name, ratio: medianOf(ratios), interval, verdict: verdictOf(interval) }
  })
}

/** Returns the verdict for a ratio, other over this, by its interval. */
export function verdictOf(interval: Interval | null): Verdict {
  if (interval !== null && interval[0] > 1) return 'faster'
  if (interval !== null && interval[1] < 1) return 'slower'
  return 'no difference seen'
}
