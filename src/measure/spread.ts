import { wrongValue } from '../errors.js'

/** An even spread of processes: equally many on each of some nodes. */
export interface EvenSpread {
  readonly nodes: number
  readonly processesPerNode: number
}

export interface PlacedSpread extends EvenSpread {
  /** The processes of every node, as many as the spread says; nodes and processes in ascending order. */
  readonly members: readonly (readonly number[])[]
}

/**
 * Returns the largest even spread among processes that may lie unevenly: equally many processes of every node that has
 * them. Of two with equally many processes, the one on more nodes is returned.
 *
 * @param nodeOf the node of every process, by any number
 */
export function largestSpread(nodeOf: ArrayLike<number>): PlacedSpread {
  const byNode = new Map<number, number[]>()
  for (const [process, node] of Array.from(nodeOf).entries())
    byNode.set(node, [...(byNode.get(node) ?? []), process])
  const nodes = [...byNode.values()]
  let best: PlacedSpread = { nodes: 0, processesPerNode: 0, members: [] }
  for (const processesPerNode of [...new Set(nodes.map(({ length }) => length))].sort((a, b) => a - b)) {
    const members = nodes.flatMap((node) =>
      node.length < processesPerNode ? [] : [node.slice(0, processesPerNode)],
    )
    const isMore = members.length * processesPerNode > best.nodes * best.processesPerNode
    if (isMore) best = { nodes: members.length, processesPerNode, members }
  }
  return best
}

/** Returns the processes of a part of a spread, node by node: the first ones of the first nodes. */
export function membersOf({ members }: PlacedSpread, part: EvenSpread): number[] {
  return members.slice(0, part.nodes).flatMap((node) => node.slice(0, part.processesPerNode))
}

/** Returns spreads of powers of two, and of all, of nodes and of processes per node; two processes at least. */
export function defaultSpreads(largest: EvenSpread): EvenSpread[] {
  return doubled(largest.nodes).flatMap((nodes) =>
    doubled(largest.processesPerNode).flatMap((processesPerNode) =>
      nodes * processesPerNode < 2 ? [] : [{ nodes, processesPerNode }],
    ),
  )
}

function doubled(most: number): number[] {
  const values = [most]
  for (let value = 2 ** Math.floor(Math.log2(most)); value >= 1; value /= 2) values.unshift(value)
  return [...new Set(values)].sort((a, b) => a - b)
}

/** @throws ERR_MEASUREMENT for a spread that exceeds the largest one */
export function requireSpreads(wanted: readonly EvenSpread[], largest: EvenSpread): void {
  for (const spread of wanted) {
    if (spread.nodes <= largest.nodes && spread.processesPerNode <= largest.processesPerNode) continue
    const expected = `expected spreads of at most ${spreadText(largest)}, nodes x processes on each`
    throw wrongValue('ERR_MEASUREMENT', expected, spreadText(spread))
  }
}

/** Returns a text such as `4x2`: nodes x processes on each. */
export function spreadText({ nodes, processesPerNode }: EvenSpread): string {
  return `${nodes}x${processesPerNode}`
}
