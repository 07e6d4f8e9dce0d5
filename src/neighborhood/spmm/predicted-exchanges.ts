import { algorithms } from '../../collective/algorithms.js'
import { scheduleOf } from '../../collective/shape/schedule-of.js'
import type { Machine } from '../../machine/machine.js'
import type { Schedule } from '../../schedule/ir.js'
import { simulate } from '../../simulate/simulate.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { mostOrdinaryRanks } from '../choose/choice.js'
import { chooseStrategy } from '../choose/choose-strategy.js'
import { plan } from '../plan/plan.js'
import type { Strategy } from '../plan/strategy.js'
import { ordinaryName } from './fastest-exchange.js'

/** What one exchange takes, predicted. */
export interface PredictedExchange {
  /** `planned`, `auto: STRATEGY`, `direct` or `ordinary allgather`. */
  readonly name: string
  /** Null for an ordinary allgather of more than {@link mostOrdinaryRanks}, which is not simulated. */
  readonly timeUs: number | null
}

/**
 * What one exchange of a product takes on a machine with one rank per core, as the simulator predicts it: by the strategy
 * that was used, by the one that the library would choose there, by direct sends, and by the best algorithm of an ordinary
 * allgather, up to {@link mostOrdinaryRanks}.
 *
 * @param bytes of every block
 * @param strategy null where an ordinary allgather was used
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than ranks
 */
export function predictExchanges(
  topology: ProcessTopology,
  machine: Machine,
  bytes: number,
  strategy: Strategy | null,
): readonly PredictedExchange[] {
  const { ranks } = topology
  const timeOf = (schedule: Schedule) => simulate(schedule, machine, { bytes }).timeUs
  const planned = (by: Strategy) => timeOf(plan(topology, by, { machine }).schedule)
  const { chosen } = chooseStrategy(topology, machine, { bytes })
  return [
    ...(strategy === null ? [] : [{ name: 'planned', timeUs: planned(strategy) }]),
    { name: `auto: ${chosen.strategy}`, timeUs: chosen.timeUs },
    { name: 'direct', timeUs: planned({ kind: 'direct' }) },
    { name: ordinaryName, timeUs: ranks > mostOrdinaryRanks ? null : ordinaryTime(ranks, timeOf) },
  ]
}

/** Of the best algorithm. */
function ordinaryTime(ranks: number, timeOf: (schedule: Schedule) => number): number {
  const shape = { ranks, root: 0, segments: 1 }
  return algorithms
    .filter(({ collective, refuses }) => collective === 'allgather' && (refuses?.(shape) ?? null) === null)
    .map((algorithm) => timeOf(scheduleOf(algorithm, shape)))
    .reduce((least, timeUs) => Math.min(least, timeUs))
}
