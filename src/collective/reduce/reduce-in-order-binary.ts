import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { combineReceived } from '../patterns/rank-operations.js'

/**
 * A reduction up a binary tree whose subtrees are runs of ranks: at most ceil(lg P) phases for one segment, and each
 * further segment follows a phase later; P - 1 messages per segment, and no rank receives the data more than twice. It
 * combines in rank order.
 *
 * @see Pjesivac-Grbovic 2007 §4.1.1 and table 4.8 (in-order binary); its tree has the last rank as root, which sends
 *   the result to another root; this tree has any root
 */
export const reduceInOrderBinary: Algorithm = {
  id: 'reduce-in-order-binary',
  collective: 'reduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007 §4.1.1, table 4.8 (in-order binary)',
    phases: 'lg C',
    messages: 'P - 1',
    sent: '1',
    serves: 'data in segments, operations that do not commute',
  },
  order: () => 'ranks',
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const { depth, parent, children } = inOrderPlace(ranks, root, rank)
    const depths = inOrderDepth(ranks, root)
    for (let part = 0; part < segments; part++) {
      const phase = part + depths - depth
      const total = parent === -1 ? operations.slot(rank, part) : undefined
      if (ranks === 1) operations.copy(rank, part).add(part, part, operations.slot(rank, part))
      let held = part
      children.forEach((child, i) => {
        const to = i === children.length - 1 ? total : undefined
        held = combineReceived(operations, rank, phase - 1, child, { part, held, to })
      })
      if (parent !== -1) operations.send(rank, phase, parent).add(partialResult(part), held)
    }
  },
}

/**
 * A rank in an in-order binary tree: every subtree is a run of ranks, so that values are combined in rank order. The
 * root of a subtree is its first rank, and the others form two halves of which the first may have a rank more. The root
 * of the whole may be any rank. If it is at an end, the others form two halves as well; otherwise they are the ranks
 * before it and those after it.
 *
 * @see Pjesivac-Grbovic 2007 §4.1.1 (in-order binary tree); its root of all is the last rank
 */
interface InOrderPlace {
  /** The number of messages between the rank and the root. */
  readonly depth: number
  /** The parent; -1 for the root. */
  readonly parent: number
  /** The children in the order in which they are combined with the rank: neighbors in rank order come first. */
  readonly children: readonly number[]
}

export function inOrderPlace(ranks: number, root: number, rank: number): InOrderPlace {
  let node = root
  let parent = -1
  let [start, end] = [0, ranks]
  for (let depth = 0; ; depth++) {
    const halves = halvesOf(start, end, node)
    if (node === rank) {
      const firsts = halves.map((half) => half.start)
      return { depth, parent, children: rank === end - 1 ? firsts.reverse() : firsts }
    }
    const half = halves[halves.length > 1 && rank >= halves[1].start ? 1 : 0]
    parent = node
    node = half.start
    start = half.start
    end = half.end
  }
}

/** Returns the number of messages between the root and the rank that is furthest from it. */
export function inOrderDepth(ranks: number, root: number): number {
  return halvesOf(0, ranks, root).reduce(
    (depth, { start, end }) => Math.max(depth, 32 - Math.clz32(end - start)),
    0,
  )
}

interface Run {
  readonly start: number
  /** The end, exclusive. */
  readonly end: number
}

/** Returns the runs that hang from a node of a run: none, one or two, ascending. */
function halvesOf(start: number, end: number, node: number): readonly Run[] {
  const isInside = start < node && node < end - 1
  const first = node === start ? start + 1 : start
  const last = node === end - 1 && node !== start ? end - 1 : end
  const middle = isInside ? node : first + Math.ceil((last - first) / 2)
  const halves = [
    { start: first, end: middle },
    { start: isInside ? node + 1 : middle, end: last },
  ]
  return halves.filter((half) => half.start < half.end)
}
