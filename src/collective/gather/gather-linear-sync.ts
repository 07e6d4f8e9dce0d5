import type { Algorithm } from '../patterns/algorithm.js'

/**
 * A gather by the root, one rank after the other: a rank sends its first segment when the root's token has come, and
 * then its other segments. The root sends the next token when the first segment has come; the others may come at any
 * time. So at most one first segment, besides the rest of earlier ranks, is on its way to the root. It takes 2P - 1
 * phases; P - 1 tokens and up to 2(P - 1) messages. With one segment there are no others.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.5 (linear with synchronization)
 */
export const gatherLinearSync: Algorithm = {
  id: 'gather-linear-sync',
  collective: 'gather',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.5 (linear with synchronization)',
    phases: '2(P - 1)',
    messages: '2(P - 1)',
    sent: '1',
    serves: 'long blocks, many ranks',
  },
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const remaining = 2 * (ranks - 1)
    const token = (position: number): number => 2 * (position - 1)
    if (rank !== root) {
      const phase = token((rank - root + ranks) % ranks)
      const own = rank * segments
      operations.receive(rank, phase, root)
      operations
        .send(rank, phase + 1, root)
        .after(phase)
        .add(own, 0)
      if (segments === 1) return
      operations.send(rank, remaining, root).after(phase + 1)
      for (let segment = 1; segment < segments; segment++) operations.add(own + segment, segment)
      return
    }
    for (let position = 1; position < ranks; position++) {
      const other = (root + position) % ranks
      const [phase, block] = [token(position), other * segments]
      operations.send(rank, phase, other).after(phase - 1)
      operations.receive(rank, phase + 1, other).add(block, operations.slot(rank, block))
      if (segments === 1) continue
      operations.receive(rank, remaining, other)
      for (let segment = 1; segment < segments; segment++)
        operations.add(block + segment, operations.slot(rank, block + segment))
    }
    operations.copy(rank, 0)
    for (let segment = 0; segment < segments; segment++) {
      const own = rank * segments + segment
      operations.add(own, segment, operations.slot(rank, own))
    }
  },
}
