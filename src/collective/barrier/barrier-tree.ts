import { allreduceTree } from '../allreduce/allreduce-tree.js'
import type { Algorithm } from '../patterns/algorithm.js'

/**
 * A barrier up a binomial tree to rank 0 and down again. It takes 2 ceil(lg P) phases and 2(P - 1) empty messages, the
 * fewest possible; no rank signals more than 2 ceil(lg P) times.
 *
 * @see Pjesivac-Grbovic 2007 §4.1 (fan-in and fan-out, tree)
 */
export const barrierTree: Algorithm = {
  id: 'barrier-tree',
  collective: 'barrier',
  catalog: {
    source: 'Pjesivac-Grbovic 2007 §4.1 (fan-in and fan-out, tree)',
    phases: '2 L',
    messages: '2(P - 1)',
    serves: 'fewest messages, many ranks',
  },
  emit: ({ ranks }, rank, operations, specification) =>
    allreduceTree.emit({ ranks }, rank, operations, specification),
}
