import { allreduceLinear } from '../allreduce/allreduce-linear.js'
import type { Algorithm } from '../patterns/algorithm.js'

/**
 * A barrier by rank 0 alone: every rank signals it, and it signals all. It takes 2 phases and 2(P - 1) empty messages,
 * the fewest possible; every other rank waits only once, which counts if processes share cores.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.2 (flat tree)
 */
export const barrierLinear: Algorithm = {
  id: 'barrier-linear',
  collective: 'barrier',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.2 (flat tree)',
    phases: '2',
    messages: '2(P - 1)',
    serves: 'fewest messages',
  },
  emit: (shape, rank, operations, specification) =>
    allreduceLinear.emit({ ranks: shape.ranks }, rank, operations, specification),
}
