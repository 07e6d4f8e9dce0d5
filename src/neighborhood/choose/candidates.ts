import { distinctOut, type NeighborSets } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Strategy } from '../plan/strategy.js'
import { usefulRadices } from './radices.js'
import type { HopLoad } from './route-load.js'

/** A strategy that may be chosen. */
export interface Candidate {
  readonly strategy: Strategy
  /** Per hop, the most messages that a rank sends; null where the strategy does not say. */
  readonly mostPeers: readonly number[] | null
  /** What its ranks do at least, where finding its route is as much work as planning it. */
  readonly leastLoad?: readonly HopLoad[]
}

/** The strategies that are considered, simplest first: of several that take equally long, the first is chosen. */
export function candidatesOf(topology: ProcessTopology, _nodeOf: Int32Array): Candidate[] {
  return [...routed(topology.ranks), ...commonNeighbors(distinctOut(topology))]
}

function routed(ranks: number): Candidate[] {
  if (ranks <= 1) return []
  return usefulRadices(ranks).flatMap((radices) => {
    const peers = radices.map((radix) => radix - 1)
    return [
      { strategy: { kind: 'routed', radices, first: 'lowest' }, mostPeers: peers },
      { strategy: { kind: 'routed', radices, first: 'highest' }, mostPeers: [...peers].reverse() },
    ] satisfies Candidate[]
  })
}

/** A rank with m destinations would at best send its block to k - 1 friends, and m / k combined messages. */
function commonNeighbors({ start, rank }: NeighborSets): Candidate[] {
  const mean = rank.length / (start.length - 1)
  return [2, 4, 8].flatMap((k) =>
    (['aware', 'agnostic'] as const).map((mode): Candidate => {
      const leastLoad: HopLoad[] = [
        { messages: [k - 1, 0], blocks: [k - 1, 0] },
        { messages: [mean / k, 0], blocks: [mean, 0] },
      ]
      return { strategy: { kind: 'common-neighbor', k, mode }, mostPeers: null, leastLoad }
    }),
  )
}
