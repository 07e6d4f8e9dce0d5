import { RankweaveError, shown } from '../../errors.js'
import type { NeighborSchedule } from '../../schedule/ir.js'
import { type NeighborCollective, neighborCollectives } from '../../schedule/specification.js'
import { transposeTopology } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { alltoallSchedule } from '../strategies/alltoall-schedule.js'
import { reduceInOrder } from '../strategies/reduce-in-order.js'
import { reduceSchedule } from '../strategies/reduce-schedule.js'
import { strategyKind } from '../strategies/strategies.js'
import type { Plan, Strategy } from '../strategies/strategy.js'
import { parametersOf } from '../strategies/strategy-text.js'
import { type PlanOptions, plan, requirePlanned, routeOf } from './plan.js'

/**
 * The operations over a topology that can be planned: the neighborhood collectives, and neighbor reductions
 * that may be combined in any order.
 */
export type NeighborOperation = NeighborCollective | 'neighbor-reduce-any'

const operations: readonly NeighborOperation[] = [...neighborCollectives, 'neighbor-reduce-any']

/**
 * Plans an operation over a topology by a strategy: the same arguments give the same schedule on every
 * machine. What strategies do to a neighbor allgather, they do to the others by the same routes; a reduction
 * in any order goes by those of the reversed topology, backwards.
 *
 * @throws ERR_STRATEGY, ERR_MACHINE as {@link plan}
 */
export function planOperation(
  topology: ProcessTopology,
  strategy: Strategy,
  operation: NeighborOperation,
  options: PlanOptions = {},
): Plan {
  requirePlanned('planOperation', topology, options)
  if (!operations.includes(operation))
    throw new RankweaveError(
      'ERR_ARGUMENT',
      `planOperation: expected an operation among ${operations.join(', ')}, got ${shown(operation)}`,
    )
  if (operation === 'neighbor-allgather') return plan(topology, strategy, options)
  const now = options.now ?? (() => performance.now())
  const begin = now()
  const schedule = scheduleOf(topology, strategy, operation, options)
  return { schedule, groups: null, planMs: now() - begin }
}

function scheduleOf(
  topology: ProcessTopology,
  strategy: Strategy,
  operation: Exclude<NeighborOperation, 'neighbor-allgather'>,
  options: PlanOptions,
): NeighborSchedule {
  if (operation === 'neighbor-reduce') return reduceInOrder(plan(topology, strategy, options).schedule)
  strategyKind(strategy)
  const header = { strategy: strategy.kind, parameters: parametersOf(strategy) }
  if (operation === 'neighbor-alltoall') {
    return alltoallSchedule(topology, routeOf(topology, strategy, options), header)
  }
  return reduceSchedule(topology, routeOf(transposeTopology(topology), strategy, options), header)
}
