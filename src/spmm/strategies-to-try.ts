import type { Strategy } from '../neighborhood/strategies/strategy.js'
import type { ProcessTopology } from '../topology/process-topology.js'

/** The most edges for which trials search friend groups. */
const mostEdges = 2 ** 18

/**
 * Returns strategies that combine messages and may be faster than direct sends; none if there is too little to combine.
 * The result is the same for equal topologies and placements. Combining saves frames between processes: directly, a
 * process sends one to every process that it has data for. Combining needs lg P steps, one after the other, and copies
 * blocks on the way. It is tried only if it could save every second frame of the busiest process.
 *
 * @param processOf the process of every rank
 */
export function strategiesToTry(
  topology: ProcessTopology,
  processOf: ArrayLike<number>,
): readonly Strategy[] {
  const { ranks, outRank } = topology
  const processes = new Set(Array.from(processOf)).size
  if (mostPeers(topology, processOf) <= 2 * Math.ceil(Math.log2(processes))) return []
  const near = Math.ceil(Math.sqrt(ranks))
  return [
    { kind: 'routed' },
    { kind: 'routed', radices: [near, near] },
    { kind: 'allgather' },
    ...(outRank.length > mostEdges
      ? []
      : [2, 4].map((k): Strategy => ({ kind: 'common-neighbor', k, mode: 'agnostic' }))),
  ]
}

/** Returns how many other processes the busiest process sends to, or receives from, if ranks send directly. */
export function mostPeers(topology: ProcessTopology, processOf: ArrayLike<number>): number {
  const { outStart, outRank, inStart, inRank } = topology
  return Math.max(peersOf(outStart, outRank, processOf), peersOf(inStart, inRank, processOf))
}

function peersOf(
  start: ArrayLike<number>,
  neighbor: ArrayLike<number>,
  processOf: ArrayLike<number>,
): number {
  const peers = new Map<number, Set<number>>()
  let most = 0
  for (let rank = 0; rank + 1 < start.length; rank++) {
    const own = processOf[rank]
    const known = peers.get(own) ?? new Set()
    peers.set(own, known)
    for (let edge = start[rank]; edge < start[rank + 1]; edge++) {
      const other = processOf[neighbor[edge]]
      if (other !== own) known.add(other)
    }
    most = Math.max(most, known.size)
  }
  return most
}
