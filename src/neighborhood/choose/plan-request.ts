import { formatMachine } from '../../machine/format-machine.js'
import { nodeOf } from '../../machine/machine.js'
import { verify } from '../../schedule/verify/verify.js'
import type { Verification } from '../../schedule/verify/violations.js'
import type { GroupingProgress } from '../../topology/friends/grouping-progress.js'
import { prepareEngine } from '../../topology/grouping/exact-round.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { plan as planned, planStatistics } from '../plan/plan.js'
import type { NeighborOperation } from '../plan/plan-operation.js'
import type { Plan, PlanStatistics, Strategy } from '../strategies/strategy.js'
import { formatStrategy } from '../strategies/strategy-text.js'
import {
  type Compared,
  type ComparisonRequest,
  choiceObject,
  compareStrategies,
  comparisonOf,
} from './comparison.js'
import { requestedStrategy, type StrategyWords } from './strategy-choice.js'

/** What `rankweave plan` and the service are asked for. */
export interface PlanWords extends StrategyWords {
  readonly bytes?: number | undefined
  readonly compare: boolean
  /** Default `neighbor-allgather`. */
  readonly operation?: NeighborOperation
}

/** A request whose words have been understood. */
export interface UnderstoodRequest {
  readonly words: PlanWords
  readonly comparison: ComparisonRequest | null
  /** Null where the library chooses. */
  readonly named: Strategy | null
}

/**
 * Understands a request before anything is built for it.
 *
 * @throws ERR_USAGE, ERR_STRATEGY, ERR_MACHINE
 */
export function understand(words: PlanWords): UnderstoodRequest {
  const comparison = comparisonOf(words)
  const named = (comparison?.auto ?? null) === null ? requestedStrategy(words).strategy : null
  return { words, comparison, named }
}

/** How planning is followed, and where a plan may come from instead. */
export interface PlanHooks {
  readonly onStep?: (what: string) => void
  readonly onProgress?: (progress: GroupingProgress) => void
  /** Default: calls `make`. */
  readonly retained?: (
    topology: ProcessTopology,
    strategy: Strategy,
    nodes: Int32Array | null,
    make: () => Plan,
  ) => Promise<{ readonly plan: Plan; readonly isFromStore: boolean }>
}

/** A plan, its proof and what is reported of it. */
export interface RequestedPlan {
  readonly plan: Plan
  readonly strategy: Strategy
  readonly statistics: PlanStatistics
  readonly direct: PlanStatistics
  readonly compared: Compared | null
  readonly verification: Verification
  /** How long a plan from a store took to read; null for a plan that was made. */
  readonly retainedMs: number | null
  /** What is printed of it as JSON, whatever printed it. */
  readonly report: PlanReport
}

/** @throws what planning throws: ERR_STRATEGY, ERR_MACHINE, ERR_TOPOLOGY */
export async function requestedPlan(
  topology: ProcessTopology,
  { words, comparison, named }: UnderstoodRequest,
  { onStep = () => {}, onProgress, retained = made }: PlanHooks = {},
): Promise<RequestedPlan> {
  const { machine, operation = 'neighbor-allgather' } = words
  const nodes = machine === undefined ? null : nodeOf(machine, topology.ranks)
  if (comparison !== null) onStep('comparing strategies')
  const compared = comparison === null ? null : compareStrategies(topology, comparison, named)
  const strategy = named ?? compared!.choice.strategy
  onStep(`planning ${topology.outRank.length} edges of ${topology.ranks} ranks`)
  await prepareEngine(words.engine)
  const planAs = (strategy: Strategy) =>
    planned(topology, strategy, {
      operation,
      ...(nodes === null ? {} : { nodeOf: nodes }),
      ...(onProgress === undefined ? {} : { onProgress }),
    })
  const begin = performance.now()
  const { plan, isFromStore } = await retained(topology, strategy, nodes, () => planAs(strategy))
  const retainedMs = isFromStore ? performance.now() - begin : null
  const statistics = planStatistics(plan, nodes)
  const direct = planStatistics(planAs({ kind: 'direct' }), nodes)
  onStep('verifying the plan')
  const verification = verify(plan.schedule, topology)
  const report = {
    machine: machine === undefined ? null : formatMachine(machine),
    mode: strategy.kind === 'common-neighbor' ? strategy.mode : null,
    ...statistics,
    parameters: plan.schedule.parameters,
    direct: {
      meanPerRank: direct.messages.meanPerRank,
      maxPerRank: direct.messages.maxPerRank,
      interNode: direct.messages.interNode,
      volumeBlocks: direct.volumeBlocks,
    },
    matching: groupingOf(plan),
    ...(compared === null ? {} : choiceObject(compared, formatStrategy(strategy))),
    planMs: plan.planMs,
  }
  return { plan, strategy, statistics, direct, compared, verification, retainedMs, report }
}

const made: NonNullable<PlanHooks['retained']> = async (_topology, _strategy, _nodes, make) => ({
  plan: make(),
  isFromStore: false,
})

/** How the groups were found; null for a plan without groups. */
function groupingOf({ groups }: Plan) {
  if (groups === null) return null
  const { engine, weight, messages, waves, timeMs } = groups
  return { engine, weight, messages, waves, timeMs }
}

export type PlanReport = PlanStatistics & {
  readonly planMs: number
  readonly machine: string | null
  /** Of friend groups; null for other strategies. */
  readonly mode: 'agnostic' | 'aware' | null
  /** The same counts of direct sends. */
  readonly direct: {
    readonly meanPerRank: number
    readonly maxPerRank: number
    readonly interNode: number | null
    readonly volumeBlocks: number
  }
  readonly [more: string]: unknown
}
