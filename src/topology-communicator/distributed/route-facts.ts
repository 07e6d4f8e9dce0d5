import { bytesOf, wordsOf } from '../../base/bytes.js'
import { getOrAdd } from '../../base/maps.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { allgatherBytes } from '../../calls/exchange/exchange-patterns.js'
import type { RouteFacts, StrategyKind } from '../../neighborhood/strategies/strategy-kind.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyFromEdges } from '../../topology/topology-builders.js'
import type { OwnLists } from './own-lists.js'
import type { RankPlacement } from './rank-hosts.js'

/** The step of the exchange; an allgather takes up to 32. */
const pairsStep = 400

/**
 * Gathers the facts on which a route depends, the same on all processes, where none has the whole topology. Memory:
 * none for ranks, 4 bytes per rank for nodes, and 8 per pair of nodes.
 */
export async function routeFacts(
  exchange: Exchange,
  lists: OwnLists,
  needs: StrategyKind<never>['routeNeeds'],
  { ranks, nodesOfAll }: RankPlacement,
): Promise<RouteFacts> {
  if (needs === 'ranks' || needs === undefined) return { topology: ranksAlone(ranks), nodeOf: null }
  const nodeOf = await nodesOfAll()
  if (needs === 'nodes') return { topology: ranksAlone(ranks), nodeOf }
  return { topology: await edgesOfNodes(exchange, lists, nodeOf), nodeOf }
}

/** Builds a topology for routes that read only the number of ranks. Its lists have no row starts either. */
function ranksAlone(ranks: number): ProcessTopology {
  const none = new Int32Array(0)
  return {
    ...{ ranks, pairing: 'occurrence', cart: null },
    ...{ outStart: none, outRank: none, outWeight: null, inStart: none, inRank: none, inWeight: null },
  }
}

/** Builds the topology with one edge between the first ranks of each pair of different nodes that has any edge. */
async function edgesOfNodes(
  exchange: Exchange,
  { localRanks, hosted }: OwnLists,
  nodeOf: Int32Array,
): Promise<ProcessTopology> {
  const firstOf = new Map<number, number>()
  for (let rank = 0; rank < nodeOf.length; rank++) {
    if (!firstOf.has(nodeOf[rank])) firstOf.set(nodeOf[rank], rank)
  }
  const pairs = new Map<number, Set<number>>()
  const add = (from: number, to: number): void => {
    getOrAdd(pairs, from, () => new Set()).add(to)
  }
  for (const [i, { destinations }] of hosted.entries()) {
    const from = nodeOf[localRanks[i]]
    for (let e = 0; e < destinations.length; e++) {
      const to = nodeOf[destinations[e]]
      if (to !== from) add(firstOf.get(from)!, firstOf.get(to)!)
    }
  }
  const own = Int32Array.from([...pairs].flatMap(([from, row]) => [...row].flatMap((to) => [from, to])))
  pairs.clear()
  for (const bytes of await allgatherBytes(exchange, bytesOf(own), pairsStep)) {
    const words = wordsOf(bytes)
    for (let at = 0; at < words.length; at += 2) add(words[at], words[at + 1])
  }
  const sources = [...pairs].flatMap(([from, row]) => Array<number>(row.size).fill(from))
  const destinations = [...pairs.values()].flatMap((row) => [...row])
  return topologyFromEdges(nodeOf.length, { sources, destinations })
}
