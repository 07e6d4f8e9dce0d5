import { rangeAt } from '../base/search.js'
import type { Exchange } from '../calls/exchange.js'
import type { CommState } from '../comm/comm-state.js'
import { wrongValue } from '../errors.js'
import { type Machine, nodeOf as nodesOfMachine } from '../machine/machine.js'
import { type AutoStrategy, isAuto } from '../neighborhood/choose/auto.js'
import { strategies, strategyKinds } from '../neighborhood/strategies/strategies.js'
import type { Strategy } from '../neighborhood/strategies/strategy.js'
import { strategyError } from '../topology/friends/grouping-options.js'
import { topologyFromLists } from '../topology/topology-builders.js'
import { planFromNeighbors } from './distributed/distributed-plan.js'
import { compareEnds, findOneSidedEdge } from './distributed/edge-check.js'
import { type AdjacentEdges, gatherAdjacent } from './distributed/gather-lists.js'
import { namedRanks } from './distributed/own-lists.js'
import { type RankHosts, rankHosts } from './distributed/rank-hosts.js'
import type { TopologyOrPlan } from './execute/neighborhood.js'
import { nodesInCommunicator, placementOf } from './execute/placement.js'
import { cachedTopology } from './topology-cache.js'

const choices = ['graph', 'neighbors'] as const
export type PlanFrom = (typeof choices)[number]

/**
 * Edges, counted with their multiplicity, of the largest graphs that `createDistGraphAdjacent` gathers by
 * default, by the kind of the strategy (docs/plans-at-scale.md#larger-graphs).
 */
export const planningLimits = Object.fromEntries(
  strategyKinds.map((kind) => [kind, strategies[kind].planningLimit]),
) as Readonly<Record<Strategy['kind'], number>>

/**
 * Edges of the largest graphs for which a strategy is chosen by default; for larger ones ranks plan direct
 * sends.
 */
export const autoLimit = 2 ** 20

const limitOf = (strategy: Strategy | AutoStrategy): number =>
  isAuto(strategy) ? autoLimit : planningLimits[strategy.kind]

/** @throws ERR_ARGUMENT for another word, ERR_STRATEGY for an engine that cannot plan so */
export function checkPlanFrom(strategy: Strategy | AutoStrategy, planFrom: unknown): void {
  if (planFrom !== undefined && !choices.includes(planFrom as PlanFrom)) {
    const expected = "createDistGraphAdjacent: expected planFrom 'graph' or 'neighbors'"
    throw wrongValue('ERR_ARGUMENT', expected, planFrom)
  }
  const engine = strategy?.kind === 'common-neighbor' ? strategy.engine : undefined
  if (planFrom === 'graph' && engine === 'distributed') {
    throw strategyError(
      "engine distributed plans from neighbors, got planFrom 'graph'; engine greedy finds the same",
    )
  }
  const needsGraph = isAuto(strategy) || planningLimits[strategy?.kind] === Number.POSITIVE_INFINITY
  if (planFrom === 'neighbors' && needsGraph)
    throw strategyError(`${strategy.kind} needs the whole graph, got planFrom 'neighbors'`)
  if (planFrom === 'neighbors' && (engine === 'improved' || engine === 'exact'))
    throw strategyError(`engine ${engine} needs the whole graph, got planFrom 'neighbors'`)
}

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

/** Undefined: by the size of the graph. One process has it all anyway. */
function planFromOf(strategy: Strategy | AutoStrategy, processes: number): PlanFrom | undefined {
  const engine = strategy.kind === 'common-neighbor' ? strategy.engine : undefined
  if (engine === 'distributed') return 'neighbors'
  return engine === undefined && processes > 1 ? undefined : 'graph'
}
