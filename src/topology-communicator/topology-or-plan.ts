import { rangeAt } from '../base/search.js'
import type { Exchange } from '../calls/exchange.js'
import type { CommState } from '../comm/comm-state.js'
import { type Machine, nodeOf as nodesOfMachine } from '../machine/machine.js'
import { type AutoStrategy, isAuto } from '../neighborhood/choose/auto.js'
import type { Strategy } from '../neighborhood/strategies/strategy.js'
import { topologyFromLists } from '../topology/topology-builders.js'
import { planFromNeighbors } from './distributed/distributed-plan.js'
import { compareEnds, findOneSidedEdge } from './distributed/edge-check.js'
import { type AdjacentEdges, gatherAdjacent } from './distributed/gather-lists.js'
import { namedRanks } from './distributed/own-lists.js'
import { type RankHosts, rankHosts } from './distributed/rank-hosts.js'
import type { TopologyOrPlan } from './execute/neighborhood.js'
import { nodesInCommunicator, placementOf } from './execute/placement.js'
import { cachedTopology } from './execute/topology-cache.js'
import { limitOf, type PlanFrom, planFromOf } from './plan-from.js'

/**
 * The whole topology, gathered, or a plan from neighbors alone: as demanded, else by the size of the graph.
 * To gather it the whole rank table is needed, to plan from neighbors the addresses of those, and of the
 * friends of the ranks here.
 */
export async function topologyOrPlan(
  state: CommState,
  exchange: Exchange,
  hosted: readonly AdjacentEdges[],
  options: {
    readonly isWeighted: boolean
    readonly strategy: Strategy | AutoStrategy
    readonly machine: Machine | undefined
    readonly planFrom: PlanFrom | undefined
  },
): Promise<TopologyOrPlan> {
  const { isWeighted, strategy, machine } = options
  const planFrom = options.planFrom ?? planFromOf(strategy, exchange.count)
  const lists = { localRanks: state.localRanks, hosted }
  if (planFrom !== 'graph') {
    const { agree, edges } = await compareEnds(exchange, lists)
    if (planFrom === 'neighbors' || edges > limitOf(strategy)) {
      const hosts = rankHosts(state)
      await hosts.learn(namedRanks(lists))
      const error = agree ? null : await findOneSidedEdge(exchange, lists, (rank) => hosts.find(rank)!)
      if (error !== null) throw error
      const nodeOf = (rank: number) => nodeIndexOf(state, hosts, machine, rank)
      const nodesOfAll = async () => {
        if (machine === undefined) await state.place()
        return machine === undefined
          ? nodesInCommunicator(state, machine, placementOf(state))
          : nodesOfMachine(machine, state.size)
      }
      const where = { ranks: state.size, nodeOf, nodesOfAll, hosts }
      const named = isAuto(strategy) ? ({ kind: 'direct' } as const) : strategy
      const plan = await planFromNeighbors(exchange, lists, named, where)
      return { plan, placement: plan.rankOf.map((rank) => hosts.find(rank)!) }
    }
  }
  await state.place()
  const gathered = await gatherAdjacent(state, exchange, hosted, isWeighted)
  return { topology: cachedTopology(topologyFromLists(gathered)) }
}

/** Node of one rank: that of the machine, or of the process that hosts it. */
function nodeIndexOf(
  { processes: { processes }, runtime }: CommState,
  hosts: RankHosts,
  machine: Machine | undefined,
  rank: number,
): number {
  if (machine !== undefined) return rangeAt(machine.firstRank, rank)
  return runtime.layout.nodeOfProcess[processes.at(hosts.find(rank)!)]
}
