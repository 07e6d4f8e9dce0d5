import { expectClose, type Program } from '../program.js'

const steps = 40_000_000

/** The steps of one part: every `parts`-th. */
export interface PartOfPi {
  readonly part: number
  readonly parts: number
}

/** Adds the areas of every `parts`-th strip below the curve. */
export function sumOfStrips({ part, parts }: PartOfPi): number {
  let sum = 0
  for (let i = part; i < steps; i += parts) sum += 4 / (1 + ((i + 0.5) / steps) ** 2)
  return sum
}

/** The area below 4 / (1 + x^2): a loop whose parts meet once, in a sum. */
export const pi: Program = {
  loops: 3,
  plain: () => () => [sumOfStrips({ part: 0, parts: 1 }) / steps],
  inPool: (pool, parts) => async () => {
    const sums = await Promise.all(
      Array.from({ length: parts }, (_, part) => pool.run<number>('sumOfStrips', { part, parts })),
    )
    return [sums.reduce((all, sum) => all + sum) / steps]
  },
  onRanks: async (world) => async () => {
    const sum = await world.reduce(sumOfStrips({ part: world.rank, parts: world.size }), 'sum')
    return sum === null ? null : [sum / steps]
  },
  check: (result) => expectClose(result, [Math.PI], 1e-10),
}
