import type { Algorithm } from '../patterns/algorithm.js'
import { binaryTreePlace } from '../patterns/rank-tree.js'

/**
 * A broadcast of long data in two halves, one down each subtree of a balanced binary tree; then ranks of both subtrees
 * exchange them in pairs. If the first subtree has a rank more, the root sends that rank the other half. It takes
 * floor(lg P) + 1 phases for one segment of each half, and each further segment follows a phase later; 2(P - 1)
 * messages of half the data, and no rank sends more than one and a half times the data.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, equations 4.8 to 4.10 (split-binary)
 */
export const bcastSplitBinary: Algorithm = {
  id: 'bcast-split-binary',
  collective: 'bcast',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, equations 4.8 to 4.10 (split-binary)',
    phases: 'lg C + 1',
    messages: '2(P - 1)',
    sent: 'at most 3/2',
    serves: 'long data in segments',
  },
  parts: ({ segments = 1 }) => 2 * segments,
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const vrank = (rank - root + ranks) % ranks
    const { level, parent, children } = binaryTreePlace(ranks, vrank)
    const exchange = 31 - Math.clz32(ranks)
    const rankOf = (other: number): number => (other + root) % ranks
    /** Returns the half that a rank gets down the tree: odd ranks get the first. */
    const halfOf = (other: number): number => (other % 2 === 1 ? 0 : segments)
    const placeOf = (part: number): number => (parent === -1 ? part : operations.slot(rank, part))
    const isUnpaired = (other: number): boolean => other % 2 === 1 && other === ranks - 1
    const peer = vrank % 2 === 1 ? vrank + 1 : vrank - 1
    for (let segment = 0; segment < segments; segment++) {
      const own = halfOf(vrank) + segment
      const other = halfOf(vrank + 1) + segment
      if (parent !== -1) operations.receive(rank, segment + level - 1, rankOf(parent)).add(own, placeOf(own))
      for (const child of children) {
        const part = halfOf(child) + segment
        operations.send(rank, segment + level, rankOf(child)).add(part, placeOf(part))
      }
      const phase = segment + exchange
      if (parent === -1) {
        const right = segments + segment
        if (ranks > 1 && isUnpaired(ranks - 1))
          operations.send(rank, phase, rankOf(ranks - 1)).add(right, placeOf(right))
        continue
      }
      const source = isUnpaired(vrank) ? 0 : peer
      if (source !== 0) operations.send(rank, phase, rankOf(peer)).add(own, placeOf(own))
      operations.receive(rank, phase, rankOf(source)).add(other, placeOf(other))
    }
  },
}
