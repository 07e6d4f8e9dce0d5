import type { ProcessTopology } from '../../topology/process-topology.js'
import { alltoallSchedule } from '../route/alltoall-schedule.js'
import { type PlanOptions, plan, routeOf } from './plan.js'
import type { Plan, Strategy } from './strategy.js'
import { parametersOf } from './strategy-text.js'

/** The operations over a topology that can be planned. */
export type NeighborOperation = 'neighbor-allgather' | 'neighbor-alltoall'

/**
 * Plans an operation over a topology by a strategy: the same arguments give the same schedule on every machine. What
 * strategies do to a neighbor allgather, they do to the others by the same routes.
 *
 * @throws ERR_STRATEGY, ERR_MACHINE as {@link plan}
 */
export function planOperation(
  topology: ProcessTopology,
  strategy: Strategy,
  operation: NeighborOperation,
  options: PlanOptions = {},
): Plan {
  if (operation === 'neighbor-allgather') return plan(topology, strategy, options)
  const now = options.now ?? (() => performance.now())
  const begin = now()
  const route = routeOf(topology, strategy, options)
  const header = { strategy: strategy.kind, parameters: parametersOf(strategy) }
  const schedule = alltoallSchedule(topology, route, header)
  return { schedule, groups: null, planMs: now() - begin }
}
