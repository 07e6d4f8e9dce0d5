import type { NeighborSchedule } from '../../schedule/ir.js'
import { type NeighborCollective, neighborCollectives } from '../../schedule/specification.js'
import { transposeTopology } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { alltoallSchedule } from '../strategies/alltoall-schedule.js'
import { reduceInOrder } from '../strategies/reduce-in-order.js'
import { reduceSchedule } from '../strategies/reduce-schedule.js'
import { strategyKind } from '../strategies/strategies.js'
import type { Strategy } from '../strategies/strategy.js'
import type { Route } from '../strategies/strategy-kind.js'
import { parametersOf } from '../strategies/strategy-text.js'

/**
 * The operations over a topology that can be planned: the neighborhood collectives, and neighbor reductions
 * that may be combined in any order.
 */
export type NeighborOperation = NeighborCollective | 'neighbor-reduce-any'

export const neighborOperations: readonly NeighborOperation[] = [
  ...neighborCollectives,
  'neighbor-reduce-any',
]

/** How a strategy serves neighbor allgathers, which all other operations follow. */
export interface AllgatherPlanner {
  schedule(): NeighborSchedule
  /** Over this topology, or the reversed one. */
  route(topology: ProcessTopology): Route
}

/**
 * The schedule of an operation other than an allgather, by the same routes; a reduction in any order goes by
 * those of the reversed topology, backwards.
 */
export function operationSchedule(
  topology: ProcessTopology,
  strategy: Strategy,
  operation: Exclude<NeighborOperation, 'neighbor-allgather'>,
  allgather: AllgatherPlanner,
): NeighborSchedule {
  if (operation === 'neighbor-reduce') return reduceInOrder(allgather.schedule())
  strategyKind(strategy)
  const header = { strategy: strategy.kind, parameters: parametersOf(strategy) }
  if (operation === 'neighbor-alltoall') return alltoallSchedule(topology, allgather.route(topology), header)
  return reduceSchedule(topology, allgather.route(transposeTopology(topology)), header)
}
