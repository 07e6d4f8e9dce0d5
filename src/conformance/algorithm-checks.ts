import { algorithms } from '../collective/algorithms.js'
import type { Algorithm } from '../collective/patterns/algorithm.js'
import type { AlgorithmCheck } from './algorithm-case.js'
import { movementChecks } from './movement-checks.js'
import { reductionChecks } from './reduction-checks.js'
import type { WorldCase } from './world-case.js'

/** By collective: a check of one of its algorithms. */
export const checkOfCollective: ReadonlyMap<string, AlgorithmCheck> = new Map([
  ...movementChecks,
  ...reductionChecks,
])

/** Elements per block: none, fewer than segments, more; and more than an eager message holds. */
const lengths = [0, 2, 33, 9000]
/** Of larger worlds only the first lengths: each rank computes all results by itself. */
const fewRanks = 5

/** Every algorithm as a case, also at the bounds of its parameters. What one refuses on a world it is not checked for. */
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

/** Every other length; the others in the next round. */
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
