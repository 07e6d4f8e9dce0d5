import { indexIn } from '../../base/search.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { isRankweaveError, type RankweaveError } from '../../errors.js'
import type { PlanOfRanks } from '../../neighborhood/plan/plan-of-ranks.js'
import { type CommonNeighbor, commonNeighborSchedule } from '../../neighborhood/strategies/common-neighbor.js'
import { directSchedule } from '../../neighborhood/strategies/direct.js'
import { parametersOf, type Strategy, strategyKind } from '../../neighborhood/strategies/strategies.js'
import { settingsWithoutNodes } from '../../topology/friends/grouping-options.js'
import { agreementFor, groupsOfPatterns } from '../../topology/grouping/group-by-messages.js'
import {
  groupingMessageKinds,
  noMessages,
  type RankNeighbors,
  type RankPattern,
} from '../../topology/grouping/grouping-messages.js'
import { combineAll } from './combine-all.js'
import { groupHostedRanks, type HostedGrouping } from './group-ranks.js'
import { distinctBut, namedRanks, numberedTopology, type OwnLists } from './own-lists.js'
import { provePlan } from './plan-proof.js'
import type { RankPlacement } from './rank-hosts.js'
import { routeFacts } from './route-facts.js'
import { planOfRoute } from './route-plan.js'

// Steps of the exchange.
const groupingStep = 200
const totalsStep = 300

/**
 * Plans for the ranks of this process from their neighbors alone. They group friends by messages to ranks of other
 * processes. `plan` would find the same groups and schedule in the whole topology. The plan is proved before anything
 * is sent by it.
 *
 * @param where its `hosts` know the ranks here and their neighbors, and afterwards all ranks of the plan
 * @throws ERR_SCHEDULE, ERR_PLAN_MISMATCH the same on all processes
 */
export async function planFromNeighbors(
  exchange: Exchange,
  lists: OwnLists,
  strategy: Strategy,
  where: RankPlacement,
): Promise<PlanOfRanks> {
  const begin = performance.now()
  const made = await partOf(exchange, lists, strategy, where)
  const { hosts } = where
  if (made !== null && 'rankOf' in made) await hosts.learn(made.rankOf)
  await provePlan(exchange, made, (rank) => hosts.find(rank)!)
  // The proof throws if there is no plan.
  const plan = made as PlanOfRanks
  const planMs = performance.now() - begin
  return { ...plan, planMs, groups: plan.groups && { ...plan.groups, timeMs: planMs } }
}

/** Returns the plan, or why this process has none; null when another process has failed. */
async function partOf(
  exchange: Exchange,
  lists: OwnLists,
  strategy: Strategy,
  where: RankPlacement,
): Promise<PlanOfRanks | RankweaveError | null> {
  if (strategy.kind === 'direct') return directPlan(lists, where.ranks)
  if (strategy.kind === 'common-neighbor') return combiningPlan(exchange, lists, strategy, where)
  const kind = strategyKind(strategy)
  const facts = await routeFacts(exchange, lists, kind.routeNeeds, where)
  const routeOf = () => kind.route(strategy, facts)
  const header = { strategy: strategy.kind, parameters: parametersOf(strategy) }
  return planOfRoute(exchange, lists, routeOf, header, where)
}

function directPlan(lists: OwnLists, ranks: number): PlanOfRanks {
  const rankOf = namedRanks(lists)
  const own = lists.localRanks.map((rank) => indexIn(rankOf, rank))
  const schedule = directSchedule(numberedTopology(rankOf, lists), own)
  return { ranks, rankOf, own, schedule, groups: null, planMs: 0 }
}

async function combiningPlan(
  exchange: Exchange,
  lists: OwnLists,
  strategy: CommonNeighbor,
  { ranks, nodeOf, hosts }: RankPlacement,
): Promise<PlanOfRanks | RankweaveError | null> {
  const settings = settingsWithoutNodes(strategy)
  const grouping = await groupHostedRanks(
    exchange,
    groupingStep,
    viewsOf(lists, settings.mode === 'aware' ? nodeOf : null),
    agreementFor(ranks, settings),
    hosts,
  )
  const totals = await totalsOf(exchange, grouping, settings.k)
  const { patterns, failure } = grouping
  if (patterns === null) return failure
  const rankOf = namedRanks(
    lists,
    patterns.flatMap(({ groups }) => groups.map(({ members }) => members)),
  )
  const own = lists.localRanks.map((rank) => indexIn(rankOf, rank))
  try {
    const numbered = patterns.map((pattern) => patternInNumbers(pattern, rankOf))
    // All ranks know the number of steps, also those without a group, so their schedules have the same number of
    // phases.
    const groups = { ...groupsOfPatterns(rankOf.length, numbered, settings), steps: totals.steps }
    const schedule = commonNeighborSchedule(numberedTopology(rankOf, lists), groups, strategy, own)
    return {
      ranks,
      rankOf,
      own,
      schedule,
      groups: { ...groups, ...totals, engine: 'distributed', timeMs: 0 },
      planMs: 0,
    }
  } catch (error) {
    if (isRankweaveError(error)) return error
    throw error
  }
}

function viewsOf(
  { localRanks, hosted }: OwnLists,
  nodeOf: ((rank: number) => number) | null,
): RankNeighbors[] {
  return Array.from(localRanks, (rank, i) => {
    const sources = distinctBut(rank, hosted[i].sources)
    const nodes = nodeOf && { own: nodeOf(rank), ofSources: sources.map(nodeOf) }
    return { rank, destinations: distinctBut(rank, hosted[i].destinations), sources, nodes }
  })
}

function patternInNumbers(
  { rank, groups, direct, directSources, servedBy }: RankPattern,
  rankOf: Int32Array,
): RankPattern {
  const number = (named: number): number => indexIn(rankOf, named)
  const numbers = (named: Int32Array): Int32Array => named.map(number)
  return {
    rank: number(rank),
    groups: groups.map(({ step, members, common }) => ({
      step,
      members: numbers(members),
      common: numbers(common),
    })),
    direct: numbers(direct),
    directSources: numbers(directSources),
    servedBy: servedBy.map(({ step, members, holder }) => ({
      step,
      members: numbers(members),
      holder: number(holder),
    })),
  }
}

/** Computes sums and maxima over all processes. */
async function totalsOf(exchange: Exchange, { patterns, messages, waves }: HostedGrouping, k: number) {
  // Every member of a group counts it, hence the division by k.
  let weight = 0
  let steps = 0
  for (const { groups } of patterns ?? []) {
    for (const { step, common } of groups) {
      weight += common.length / k
      steps = Math.max(steps, step + 1)
    }
  }
  const counts = groupingMessageKinds.map((kind) => messages[kind])
  const own = Float64Array.from([weight, steps, ...counts, ...waves])
  const [allWeight, allSteps, ...rest] = await combineAll(exchange, own, combineTotals, totalsStep)
  const sums = noMessages()
  for (const [i, kind] of groupingMessageKinds.entries()) sums[kind] = rest[i]
  return {
    weight: Math.round(allWeight),
    steps: allSteps,
    messages: sums,
    waves: rest.slice(groupingMessageKinds.length),
  }
}

/** Weights and messages are added up; steps and waves, by round, are maxima. */
function combineTotals(a: Float64Array, b: Float64Array): Float64Array {
  const combined = a.length >= b.length ? a.slice() : b.slice()
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const isSum = i === 0 || (i >= 2 && i < 2 + groupingMessageKinds.length)
    combined[i] = isSum ? a[i] + b[i] : Math.max(a[i], b[i])
  }
  return combined
}
