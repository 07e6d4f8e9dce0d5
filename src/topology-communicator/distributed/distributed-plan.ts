import { bytesOf, wordsOf } from '../../base/bytes.js'
import { getOrAdd } from '../../base/maps.js'
import { indexIn } from '../../base/search.js'
import { allgatherBytes, alltoallBytes, type Exchange } from '../../calls/exchange/exchange.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import type { PlanOfRanks } from '../../neighborhood/plan/plan-of-ranks.js'
import { directSchedule } from '../../neighborhood/strategies/direct.js'
import { parametersOf, type Strategy, strategyKind } from '../../neighborhood/strategies/strategies.js'
import type { RouteFacts, StrategyKind } from '../../neighborhood/strategies/strategy-kind.js'
import { messageBalance } from '../../schedule/verify/message-digest.js'
import { verifySlice } from '../../schedule/verify/verify.js'
import { settingsWithoutNodes } from '../../topology/friends/grouping-options.js'
import { agreementFor, groupsOfPatterns } from '../../topology/grouping/group-by-messages.js'
import {
  groupingMessageKinds,
  noMessages,
  type RankNeighbors,
  type RankPattern,
} from '../../topology/grouping/grouping-messages.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyFromEdges } from '../../topology/topology-builders.js'
import { combineAll, firstFailure } from './agreed-plan.js'
import { groupHostedRanks, type HostedGrouping } from './group-ranks.js'
import {
  distinctBut,
  type HostedLists,
  namedRanks,
  numberedTopology,
  type RankPlacement,
} from './hosted-lists.js'
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
  lists: HostedLists,
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
  lists: HostedLists,
  strategy: Strategy,
  where: RankPlacement,
): Promise<PlanOfRanks | RankweaveError | null> {
  if (strategy.kind === 'direct') return directPlan(lists, where.ranks)
  const kind = strategyKind(strategy)
  if (kind.grouping !== undefined) return combiningPlan(exchange, lists, strategy, where)
  const facts = await routeFacts(exchange, lists, kind.routeNeeds, where)
  const routeOf = () => kind.route(strategy, facts)
  const header = { strategy: strategy.kind, parameters: parametersOf(strategy) }
  return planOfRoute(exchange, lists, routeOf, header, where)
}

function directPlan(lists: HostedLists, ranks: number): PlanOfRanks {
  const rankOf = namedRanks(lists)
  const own = lists.localRanks.map((rank) => indexIn(rankOf, rank))
  const schedule = directSchedule(numberedTopology(rankOf, lists), own)
  return { ranks, rankOf, own, schedule, groups: null, planMs: 0 }
}

async function combiningPlan(
  exchange: Exchange,
  lists: HostedLists,
  strategy: Strategy,
  { ranks, nodeOf, hosts }: RankPlacement,
): Promise<PlanOfRanks | RankweaveError | null> {
  const kind = strategyKind(strategy)
  const settings = settingsWithoutNodes(kind.grouping!(strategy))
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
    const schedule = kind.scheduleOfGroups!(strategy, numberedTopology(rankOf, lists), groups, own)
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
  { localRanks, hosted }: HostedLists,
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

/** The step of the exchange; an allgather takes up to 32. */
const pairsStep = 400

/**
 * Gathers the facts on which a route depends, the same on all processes, where none has the whole topology. Memory:
 * none for ranks, 4 bytes per rank for nodes, and 8 per pair of nodes.
 */
export async function routeFacts(
  exchange: Exchange,
  lists: HostedLists,
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
  { localRanks, hosted }: HostedLists,
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

// Steps of the exchange; an allgather takes up to 32.
const balanceStep = 500
const failureStep = 510
const pairStep = 550
const verdictStep = 560

/**
 * Proves a plan of which every process has the part of its ranks, before anything is sent by it. Each process verifies
 * its part. The digests of all messages, as their senders and as their receivers list them, must cancel
 * (docs/study/plan-proof.md).
 *
 * @param made the part of this process, or why it has none; null when another process reports that
 * @throws ERR_SCHEDULE when a part does not verify, ERR_PLAN_MISMATCH when two do not fit; the same on all processes
 */
export async function provePlan(
  exchange: Exchange,
  made: PlanOfRanks | RankweaveError | null,
  processOf: (rank: number) => number,
): Promise<void> {
  const part = made instanceof RankweaveError ? null : made
  const failure = made instanceof RankweaveError ? made : made && ownFailure(made)
  const own = part === null ? null : messageBalance(part.schedule, part.own, part.rankOf)
  const [low, high, failures] = await combineAll(
    exchange,
    Float64Array.of(own?.low ?? 0, own?.high ?? 0, failure === null ? 0 : 1),
    (a, b) => Float64Array.of((a[0] + b[0]) >>> 0, (a[1] + b[1]) >>> 0, a[2] + b[2]),
    balanceStep,
  )
  if (failures > 0) throw await firstFailure(exchange, failure, failureStep)
  if (low !== 0 || high !== 0) throw await mismatch(exchange, part!, processOf)
}

function ownFailure({ schedule, own }: PlanOfRanks): RankweaveError | null {
  const { ok, violations } = verifySlice({ schedule, ranks: own, topologyHash: '' })
  if (ok) return null
  return new RankweaveError('ERR_SCHEDULE', `the plan does not verify: ${violations[0]?.message}`)
}

/** Names the first two processes whose messages with each other do not fit. */
async function mismatch(
  exchange: Exchange,
  { schedule, own, rankOf }: PlanOfRanks,
  processOf: (rank: number) => number,
): Promise<RankweaveError> {
  const { me, count } = exchange
  const processOfNumber = rankOf.map(processOf)
  const balances = Array.from({ length: count }, (_, process) =>
    messageBalance(schedule, own, rankOf, (peer) => processOfNumber[peer] === process),
  )
  const theirs = await alltoallBytes(
    exchange,
    balances.map(({ low, high, sent, received }) => bytesOf(Float64Array.of(low, high, sent, received))),
    pairStep,
  )
  const found: number[] = []
  for (let peer = 0; peer < count && found.length === 0; peer++) {
    const { buffer, byteOffset } = theirs[peer]
    const [low, high, sent, received] = new Float64Array(buffer, byteOffset, 4)
    const mine = balances[peer]
    const fits =
      peer === me
        ? mine.low === 0 && mine.high === 0
        : (mine.low + low) >>> 0 === 0 && (mine.high + high) >>> 0 === 0
    if (!fits) found.push(me, peer, mine.sent, received, mine.received, sent)
  }
  const verdicts = await allgatherBytes(exchange, bytesOf(Float64Array.from(found)), verdictStep)
  const first = verdicts.find(({ byteLength }) => byteLength > 0)
  if (first === undefined)
    return new RankweaveError('ERR_PLAN_MISMATCH', 'the digests of all messages do not cancel')
  const [a, b, sent, expected, awaited, coming] = new Float64Array(first.buffer, first.byteOffset, 6)
  const counts =
    sent === expected && awaited === coming
      ? `${sent} and ${awaited} messages with other blocks, tags or phases at their two ends`
      : `process ${a} sends ${sent} messages of which process ${b} expects ${expected}, ` +
        `and expects ${awaited} of which process ${b} sends ${coming}`
  const message = `the plans of processes ${a} and ${b} do not fit together: ${counts}`
  return new RankweaveError('ERR_PLAN_MISMATCH', message, { details: { process: a, peer: b } })
}
