import { expect, it } from 'vitest'
import { algorithms } from '../../src/collective/algorithms.js'
import { faultsOf, shapesOf } from '../support/algorithm-checks.js'

it.each(algorithms.map((algorithm) => [algorithm.id, algorithm] as const))(
  '%s does what its collective demands, and combines as it claims, for 1 to 33 ranks',
  (_, algorithm) => {
    for (let ranks = 1; ranks <= 33; ranks++) {
      for (const segments of [1, 2, 3, 7]) {
        for (const shape of shapesOf(algorithm, ranks, segments)) {
          expect([shape, faultsOf(algorithm, shape)]).toEqual([shape, []])
        }
      }
    }
  },
)
