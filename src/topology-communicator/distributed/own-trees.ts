import { GrowingInt32Array } from '../../base/growing-array.js'
import { indexIn } from '../../base/search.js'
import { RankweaveError } from '../../errors.js'
import { deliveryTrees, type Moves } from '../../neighborhood/strategies/delivery-trees.js'
import type { Route } from '../../neighborhood/strategies/strategy-kind.js'
import { distinctBut, type OwnLists } from './own-lists.js'

/** The moves of the blocks of a process's ranks, in ranks. */
export type OwnMoves = Omit<Moves, 'before'>

/**
 * Builds the trees by which the blocks of a process's ranks reach their destinations. They equal those of the whole
 * topology, because a tree depends only on its source's destinations and the route. Time: destinations times hops times
 * the logarithm of the ranks on a way. Memory: proportional to these ranks and the moves, whatever the number of all
 * ranks.
 *
 * @throws ERR_STRATEGY when the route leaves the ranks or does not end at the destination
 */
export function ownTrees(route: Route, { localRanks, hosted }: OwnLists, ranks: number): OwnMoves {
  const passed = new Set<number>(localRanks)
  const start = [0]
  const named = new GrowingInt32Array()
  const sources: number[] = []
  for (const [i, source] of localRanks.entries()) {
    const destinations = distinctBut(source, hosted[i].destinations)
    if (destinations.length === 0) continue
    for (const destination of destinations) {
      let at = source
      for (let h = 0; h < route.hops; h++) {
        at = route.hop(h, source, destination)
        if (!Number.isInteger(at) || at < 0 || at >= ranks) break
        passed.add(at)
      }
      if (at !== destination) throw strayed(source, destination, at)
    }
    sources.push(source)
    named.append(destinations)
    start.push(named.length)
  }
  // These ranks are numbered in their order, so nothing takes memory for all ranks.
  const rankOf = Int32Array.from(passed).sort()
  const starts = new Int32Array(rankOf.length + 1)
  for (const [i, source] of sources.entries()) starts[indexIn(rankOf, source) + 1] = start[i + 1] - start[i]
  for (let number = 0; number < rankOf.length; number++) starts[number + 1] += starts[number]
  const destinations = named.toArray().map((rank) => indexIn(rankOf, rank))
  const { block, hop, from, to } = deliveryTrees(
    {
      hops: route.hops,
      hop: (h, source, destination) => indexIn(rankOf, route.hop(h, rankOf[source], rankOf[destination])),
    },
    { start: starts, rank: destinations },
    rankOf.length,
  )
  const inRanks = (numbers: Int32Array) => numbers.map((number) => rankOf[number])
  return { block: inRanks(block), hop, from: inRanks(from), to: inRanks(to) }
}

function strayed(source: number, destination: number, at: number): RankweaveError {
  const message = `the route of rank ${source} to rank ${destination} ends at ${at}, not at its destination`
  return new RankweaveError('ERR_STRATEGY', message)
}
