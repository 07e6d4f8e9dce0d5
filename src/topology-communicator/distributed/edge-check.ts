import { bytesOf, wordsOf } from '../../base/bytes.js'
import { MultisetDigest } from '../../base/hash.js'
import { indexIn } from '../../base/search.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { allgatherBytes, alltoallBytes } from '../../calls/exchange/exchange-patterns.js'
import { RankweaveError } from '../../errors.js'
import { endsDiffer, oneSidedEdge } from '../../topology/process-topology.js'
import { combineAll } from './agreed-plan.js'
import type { HostedLists } from './hosted-lists.js'

// Steps of the exchange; an allgather takes up to 32.
const digestStep = 400
const edgeStep = 410
const verdictStep = 420

/**
 * Compares both ends of every edge without gathering the lists: each process adds digests of the edges that its ranks
 * list as destinations, and subtracts those that they list as sources. A sum of zero over all processes means that the
 * lists agree, up to one chance in 2^64.
 *
 * @throws ERR_TOPOLOGY, on all processes, when a weight on any process is NaN
 */
export async function compareEnds(
  exchange: Exchange,
  { localRanks, hosted }: HostedLists,
): Promise<{ readonly agree: boolean; readonly edges: number }> {
  const digest = new MultisetDigest()
  let edges = 0
  let malformed = 0
  for (const [i, { sources, destinations, sourceWeights, destinationWeights }] of hosted.entries()) {
    const rank = localRanks[i]
    edges += destinations.length
    if (hasNaN(sourceWeights) || hasNaN(destinationWeights)) malformed++
    for (let e = 0; e < destinations.length; e++) {
      digest.begin()
      digest.word(rank)
      digest.word(destinations[e])
      digest.add()
    }
    for (let e = 0; e < sources.length; e++) {
      digest.begin()
      digest.word(sources[e])
      digest.word(rank)
      digest.remove()
    }
  }
  const own = Float64Array.of(digest.low, digest.high, edges, malformed)
  const [low, high, total, allMalformed] = await combineAll(
    exchange,
    own,
    (a, b) => Float64Array.of((a[0] + b[0]) >>> 0, (a[1] + b[1]) >>> 0, a[2] + b[2], a[3] + b[3]),
    digestStep,
  )
  if (allMalformed > 0) throw new RankweaveError('ERR_TOPOLOGY', 'expected numbers as weights, got NaN')
  return { agree: low === 0 && high === 0, edges: total }
}

/**
 * Returns the error that names an edge whose ends differ, the same on all processes; null if there is none after all.
 * Each process sends every other the edges that lead to its ranks.
 */
export async function findOneSidedEdge(
  exchange: Exchange,
  { localRanks, hosted }: HostedLists,
  processOf: (rank: number) => number,
): Promise<RankweaveError | null> {
  const edgesTo: number[][] = Array.from({ length: exchange.count }, () => [])
  for (const [i, p] of localRanks.entries()) {
    for (const q of Array.from(hosted[i].destinations)) edgesTo[processOf(q)].push(p, q)
  }
  const arrived = await alltoallBytes(
    exchange,
    edgesTo.map((edges) => bytesOf(Int32Array.from(edges))),
    edgeStep,
  )
  const named: number[][] = hosted.map(() => [])
  for (const edges of arrived.map(wordsOf)) {
    for (let e = 0; e < edges.length; e += 2) named[indexIn(localRanks, edges[e + 1])].push(edges[e])
  }
  const found: number[] = []
  for (const [i, q] of localRanks.entries()) {
    const edge = oneSidedEdge(Int32Array.from(named[i]).sort(), Int32Array.from(hosted[i].sources).sort())
    if (edge === null) continue
    found.push(edge.source, q, edge.sent, edge.expected)
    break
  }
  const verdicts = await allgatherBytes(exchange, bytesOf(Int32Array.from(found)), verdictStep)
  for (const [source, destination, sent, expected] of verdicts.map(wordsOf)) {
    if (source !== undefined) return endsDiffer({ source, sent, expected }, destination)
  }
  return null
}

function hasNaN(weights: ArrayLike<number> | undefined): boolean {
  for (let i = 0; i < (weights?.length ?? 0); i++) if (Number.isNaN(Number(weights![i]))) return true
  return false
}
