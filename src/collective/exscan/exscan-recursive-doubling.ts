import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'

/**
 * An exclusive scan by doubling: the messages of `scan-recursive-doubling`, and each rank combines the received values
 * once more without its own. It takes ceil(lg P) phases, P - 2^k messages in step k; up to two combinations per phase.
 * It combines in rank order.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.11 (binomial); Hillis, Steele 1986, Data Parallel Algorithms
 */
export const exscanRecursiveDoubling: Algorithm = {
  id: 'exscan-recursive-doubling',
  collective: 'exscan',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.11 (binomial); Hillis, Steele 1986',
    phases: 'L',
    messages: 'P L - 2^L + 1',
    sent: 'L',
    serves: 'short data',
  },
  order: () => 'ranks',
  emit({ ranks, segments = 1 }, rank, operations) {
    for (let part = 0; part < segments; part++) {
      let inclusive = part
      let exclusive = -1
      for (let distance = 1, phase = part; distance < ranks; distance *= 2, phase++) {
        if (rank + distance < ranks)
          operations.send(rank, phase, rank + distance).add(partialResult(part), inclusive)
        if (rank < distance) continue
        const result = rank < 2 * distance ? operations.slot(rank, part) : operations.stage(rank)
        const other = exclusive < 0 ? result : operations.stage(rank)
        operations.receive(rank, phase, rank - distance).add(partialResult(part), other)
        if (exclusive >= 0) operations.combine(rank, phase, part, other, exclusive, result)
        exclusive = result
        if (rank + 2 * distance >= ranks) continue
        const sum = operations.stage(rank)
        operations.combine(rank, phase, part, other, inclusive, sum)
        inclusive = sum
      }
    }
  },
}
