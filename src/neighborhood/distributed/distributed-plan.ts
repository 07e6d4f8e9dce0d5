import type { Exchange } from '../../comm/calls/exchange.js'
import { allgatherBytes } from '../../comm/calls/exchange-patterns.js'
import type { CommState } from '../../comm/context/comm-state.js'
import { RankweaveError } from '../../errors.js'
import type { ScheduleSlice } from '../../schedule/schedule-slice.js'
import { verifySlice } from '../../schedule/verify/verify.js'
import { type GroupingSettings, groupingSettings } from '../../topology/friends/grouping-options.js'
import { groupsOfPatterns } from '../../topology/grouping/distributed/friend-patterns.js'
import { agreementFor } from '../../topology/grouping/distributed/group-by-messages.js'
import {
  groupingMessageKinds,
  noMessages,
  type RankView,
} from '../../topology/grouping/distributed/rank-view.js'
import { distinctIn, distinctOut } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { commonNeighborSchedule } from '../plan/common-neighbor.js'
import type { CommonNeighbor, Plan } from '../plan/strategy.js'
import { groupHostedRanks, type HostedGrouping } from './group-ranks.js'

// Steps of the exchange: an allgather takes up to 32.
const groupingStep = 200
const totalsStep = 300

/**
 * Plans for the ranks of this process, from their own neighbors alone: they group friends by messages to those of the other
 * processes. The groups and the schedule are those that `plan` finds for them in the whole topology.
 *
 * @param topology the lists of the hosted ranks, others empty
 */
export async function planHostedRanks(
  state: CommState,
  exchange: Exchange,
  topology: ProcessTopology,
  strategy: CommonNeighbor,
  where: { readonly nodeOf: Int32Array; readonly processOf: Int32Array },
): Promise<Plan> {
  const begin = performance.now()
  const { ranks } = topology
  const settings = groupingSettings(ranks, { ...strategy, nodeOf: where.nodeOf })
  const matched = await groupHostedRanks(
    exchange,
    groupingStep,
    hostedViews(topology, state.localRanks, settings.nodeOf),
    agreementFor(ranks, settings),
    where.processOf,
  )
  const { weight, steps, messages, waves } = await totalsOf(exchange, matched, settings)
  // All ranks know the number of steps, also those without a group: their schedules have the same number of phases.
  const known = { ...groupsOfPatterns(ranks, matched.patterns, settings), steps }
  const schedule = commonNeighborSchedule(topology, known, strategy, state.localRanks)
  const slice: ScheduleSlice = { schedule, ranks: state.localRanks, topologyHash: '' }
  const { ok, violations } = verifySlice(slice)
  if (!ok) throw new RankweaveError('ERR_SCHEDULE', `the plan does not verify: ${violations[0]?.message}`)
  const planMs = performance.now() - begin
  const groups = { ...known, engine: 'distributed' as const, weight, messages, waves, timeMs: planMs }
  return { schedule, groups, planMs, ranks: state.localRanks }
}

function hostedViews(
  topology: ProcessTopology,
  localRanks: Int32Array,
  nodeOf: Int32Array | null,
): RankView[] {
  const out = distinctOut(topology)
  const into = distinctIn(topology)
  return Array.from(localRanks, (rank) => {
    const sources = into.rank.subarray(into.start[rank], into.start[rank + 1])
    const nodes = nodeOf && { own: nodeOf[rank], ofSources: sources.map((source) => nodeOf[source]) }
    return { rank, destinations: out.rank.subarray(out.start[rank], out.start[rank + 1]), sources, nodes }
  })
}

/** Sums and maxima over all processes. */
async function totalsOf(
  exchange: Exchange,
  { patterns, messages, waves }: HostedGrouping,
  { k }: GroupingSettings,
) {
  // Every member of a group counts it, hence the division by k.
  let weight = 0
  let steps = 0
  for (const { groups } of patterns) {
    for (const { step, common } of groups) {
      weight += common.length / k
      steps = Math.max(steps, step + 1)
    }
  }
  const own = Float64Array.from([
    weight,
    steps,
    ...groupingMessageKinds.map((kind) => messages[kind]),
    ...waves,
  ])
  const blocks = await allgatherBytes(exchange, new Uint8Array(own.buffer), totalsStep)
  const total = { weight: 0, steps: 0, messages: noMessages(), waves: [] as number[] }
  for (const { buffer, byteOffset, byteLength } of blocks) {
    const [theirWeight, theirSteps, ...rest] = new Float64Array(buffer, byteOffset, byteLength / 8)
    total.weight += theirWeight
    total.steps = Math.max(total.steps, theirSteps)
    for (const kind of groupingMessageKinds) total.messages[kind] += rest.shift()!
    for (const [round, wave] of rest.entries()) total.waves[round] = Math.max(total.waves[round] ?? 0, wave)
  }
  return { ...total, weight: Math.round(total.weight) }
}
