import { algorithms } from '../collective/algorithms.js'
import type { Algorithm } from '../collective/patterns/algorithm.js'
import type { AlgorithmCheck } from './algorithm-case.js'
import { movementChecks } from './movement-checks.js'
import { reductionChecks } from './reduction-checks.js'
import type { WorldCase } from './world-case.js'

export const checkOfCollective: ReadonlyMap<string, AlgorithmCheck> = new Map([
  ...movementChecks,
  ...reductionChecks,
])

/** The numbers of elements per block: none, fewer than segments, more; and more than an eager message holds. */
const lengths = [0, 2, 33, 9000]
/**
 * The most ranks with which all lengths are checked. Larger worlds use only the first, because each rank computes all
 * results by itself.
 */
const fewRanks = 5

/**
 * The algorithms as cases, also at the bounds of their parameters. Calls that an algorithm refuses on a world are not
 * checked.
 */
export const algorithmChecks: readonly WorldCase[] = algorithms
  .flatMap(withBounds)
  .flatMap(({ id, collective }, index) => {
    const check = checkOfCollective.get(collective)
    return check === undefined ? [] : [caseOf(id, check, index)]
  })

function withBounds(algorithm: Algorithm): readonly Algorithm[] {
  const bound = Object.entries(algorithm.parameters ?? {}).flatMap(([name, { least, most }]) =>
    [least, most].map((value) => (value === undefined ? algorithm : algorithm.with!({ [name]: value }))),
  )
  return [...new Set([algorithm, ...bound])]
}

/** Checks every other length; the next round checks the others. */
function caseOf(id: string, check: AlgorithmCheck, index: number): WorldCase {
  return {
    name: `algorithm ${id}`,
    async check(world, { seed, rounds }) {
      for (let round = 0; round < rounds; round++) {
        for (const [i, length] of lengths.slice(0, world.size > fewRanks ? 3 : 4).entries()) {
          if ((i + index + seed + round) % 2 !== 0) continue
          const slot = (seed % 1000) + round
          const given = { slot, length, root: (slot + i) % world.size }
          await check(world, { algorithm: id, ...(i % 2 === 0 ? {} : { segments: 1 + i }) }, given)
        }
      }
    },
  }
}
