import { expect, it } from 'vitest'
import { faultsOf, shapesOf, variants } from '../support/algorithm-checks.js'
import { tier } from '../support/soak.js'

/** All shapes of trees and rings up to 17; beyond, on both sides of a power of two. */
const rankCounts = tier === 'long' ? oneTo(33) : [...oneTo(17), 31, 32, 33]

it.each(variants.map((algorithm) => [algorithm.id, algorithm] as const))(
  '%s does what its collective demands, and combines as it claims, for up to 33 ranks',
  (_, algorithm) => {
    for (const ranks of rankCounts) {
      for (const segments of [1, 2, 3, 7]) {
        for (const shape of shapesOf(algorithm, ranks, segments)) {
          expect([shape, faultsOf(algorithm, shape)]).toEqual([shape, []])
        }
      }
    }
  },
)

function oneTo(most: number): number[] {
  return Array.from({ length: most }, (_, n) => n + 1)
}
