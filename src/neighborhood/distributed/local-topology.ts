import { bytesOf, wordsOf } from '../../base/bytes.js'
import type { Exchange } from '../../comm/calls/exchange.js'
import { allgatherBytes, alltoallBytes } from '../../comm/calls/exchange-patterns.js'
import type { CommState } from '../../comm/context/comm-state.js'
import type { RankweaveError } from '../../errors.js'
import { endsDiffer, oneSidedEdge } from '../../topology/edge-ends.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { AdjacentEdges } from './gather-lists.js'

// Steps of the exchange: an allgather takes up to 32.
const edgeStep = 0
const verdictStep = 1

/**
 * A topology of which this process has the lists of its own ranks; those of the others are empty. Both ends of every edge
 * are compared: each process sends the others the edges that lead to their ranks.
 *
 * The error, the same on all processes, is ERR_TOPOLOGY, naming the edge, when one rank lists an edge and the other does not.
 */
export async function localTopology(
  state: CommState,
  exchange: Exchange,
  processOf: Int32Array,
  hosted: readonly AdjacentEdges[],
): Promise<{ readonly topology: ProcessTopology; readonly error: RankweaveError | null }> {
  const topology = topologyOf(state, hosted)
  const edgesTo: number[][] = Array.from({ length: exchange.count }, () => [])
  for (const p of state.localRanks) {
    for (let e = topology.outStart[p]; e < topology.outStart[p + 1]; e++) {
      const q = topology.outRank[e]
      edgesTo[processOf[q]].push(p, q)
    }
  }
  const named = await alltoallBytes(
    exchange,
    edgesTo.map((edges) => bytesOf(Int32Array.from(edges))),
    edgeStep,
  )
  const verdicts = await allgatherBytes(
    exchange,
    bytesOf(Int32Array.from(firstDisagreement(state.localRanks, topology, named.map(wordsOf)))),
    verdictStep,
  )
  for (const [source, destination, sent, expected] of verdicts.map(wordsOf)) {
    if (source === undefined) continue
    return { topology, error: endsDiffer({ source, sent, expected }, destination) }
  }
  return { topology, error: null }
}

function topologyOf(state: CommState, hosted: readonly AdjacentEdges[]): ProcessTopology {
  const { size: ranks, localRanks } = state
  const isWeighted = hosted.some(({ sourceWeights }) => sourceWeights !== undefined)
  const rows = (list: (edges: AdjacentEdges) => ArrayLike<number>) => {
    const start = new Int32Array(ranks + 1)
    for (const [i, rank] of localRanks.entries()) start[rank + 1] = list(hosted[i]).length
    for (let r = 0; r < ranks; r++) start[r + 1] += start[r]
    return start
  }
  const fill = <A extends Int32Array | Float64Array>(
    into: A,
    start: Int32Array,
    list: (edges: AdjacentEdges) => ArrayLike<number>,
  ): A => {
    for (const [i, rank] of localRanks.entries()) into.set(list(hosted[i]), start[rank])
    return into
  }
  const outStart = rows(({ destinations }) => destinations)
  const inStart = rows(({ sources }) => sources)
  const weights = (start: Int32Array, list: (edges: AdjacentEdges) => ArrayLike<number>) =>
    isWeighted ? fill(new Float64Array(start[ranks]), start, list) : null
  return {
    ranks,
    outStart,
    outRank: fill(new Int32Array(outStart[ranks]), outStart, ({ destinations }) => destinations),
    outWeight: weights(outStart, ({ destinationWeights }) => destinationWeights!),
    inStart,
    inRank: fill(new Int32Array(inStart[ranks]), inStart, ({ sources }) => sources),
    inWeight: weights(inStart, ({ sourceWeights }) => sourceWeights!),
    pairing: 'occurrence',
    cart: null,
  }
}

/** The first edge to a rank of this process whose ends differ: source, destination, times sent and expected. */
function firstDisagreement(
  localRanks: Int32Array,
  { ranks, inStart, inRank }: ProcessTopology,
  named: readonly Int32Array[],
): readonly number[] {
  const namedStart = new Int32Array(ranks + 1)
  for (const edges of named) for (let i = 1; i < edges.length; i += 2) namedStart[edges[i] + 1]++
  for (let r = 0; r < ranks; r++) namedStart[r + 1] += namedStart[r]
  const namedSource = new Int32Array(namedStart[ranks])
  const next = namedStart.slice(0, ranks)
  for (const edges of named)
    for (let i = 0; i < edges.length; i += 2) namedSource[next[edges[i + 1]]++] = edges[i]

  for (const q of localRanks) {
    const sources = namedSource.subarray(namedStart[q], namedStart[q + 1]).sort()
    const edge = oneSidedEdge(sources, inRank.slice(inStart[q], inStart[q + 1]).sort())
    if (edge !== null) return [edge.source, q, edge.sent, edge.expected]
  }
  return []
}
