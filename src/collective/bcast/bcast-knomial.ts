import { integerOption } from '../../base/option.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'

/**
 * A broadcast down a k-nomial tree, the largest subtrees first: in each phase every rank that has the data sends it to
 * `radix` - 1 ranks at once. It takes as many phases for one segment as P - 1 has digits to the base `radix`, and each
 * further segment follows a phase later.
 *
 * @see Open MPI, ompi_coll_base_topo_build_kmtree
 */
export const bcastKnomial: Algorithm = parameterized({
  id: 'bcast-knomial',
  collective: 'bcast',
  catalog: {
    source: 'Open MPI `knomial`',
    phases: 'K',
    messages: 'P - 1',
    sent: 'at most 3K',
    serves: 'short data, many ranks',
  },
  parameters: {
    radix: integerOption({ least: 2, most: 64, default: 4, help: 'a rank sends to radix - 1 ranks at once' }),
  },
  emit({ ranks, root = 0, segments = 1 }, rank, operations, _, { radix }) {
    const vrank = (rank - root + ranks) % ranks
    const rankOf = (other: number): number => (other + root) % ranks
    let widest = 1
    while (widest < ranks) widest *= radix
    for (let segment = 0; segment < segments; segment++) {
      const place = vrank === 0 ? segment : operations.slot(rank, segment)
      // A subtree has `size` ranks. Its parts have a radix-th of them each, and their first ranks receive in this
      // phase.
      for (let [phase, size] = [segment, widest]; size > 1; phase++, size /= radix) {
        const part = size / radix
        const within = vrank % size
        if (within % part !== 0) continue
        if (within > 0) operations.receive(rank, phase, rankOf(vrank - within)).add(segment, place)
        const end = within > 0 ? 0 : Math.min(vrank + size, ranks)
        for (let child = vrank + part; child < end; child += part)
          operations.send(rank, phase, rankOf(child)).add(segment, place)
      }
    }
  },
})
