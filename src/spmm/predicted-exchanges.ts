import { fastestAllgather, mostAllgatherRanks } from '../cost/simulate/fastest-allgather.js'
import { simulate } from '../cost/simulate/simulate.js'
import type { Machine } from '../machine/machine.js'
import { chooseStrategy } from '../neighborhood/choose/choose-strategy.js'
import { plan } from '../neighborhood/plan/plan.js'
import type { Strategy } from '../neighborhood/strategies/strategy.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { ordinaryName } from './fastest-exchange.js'

/** What one exchange takes, predicted. */
export interface PredictedExchange {
  /** `planned`, `auto: STRATEGY`, `direct` or `ordinary allgather`. */
  readonly name: string
  /** Null for an ordinary allgather of more than {@link mostAllgatherRanks}, which is not simulated. */
  readonly timeUs: number | null
}

/**
 * What one exchange of a product takes on a machine with one rank per core, as the simulator predicts it: by
 * the strategy that was used, by the one that the library would choose there, by direct sends, and by the
 * best algorithm of an ordinary allgather, up to {@link mostAllgatherRanks}.
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
  const planned = (by: Strategy) =>
    simulate(plan(topology, by, { machine }).schedule, machine, { bytes }).timeUs
  const ordinary =
    ranks > mostAllgatherRanks ? null : fastestAllgather(ranks, machine, bytes).simulation.timeUs
  const { chosen } = chooseStrategy(topology, machine, { bytes })
  return [
    ...(strategy === null ? [] : [{ name: 'planned', timeUs: planned(strategy) }]),
    { name: `auto: ${chosen.strategy}`, timeUs: chosen.timeUs },
    { name: 'direct', timeUs: planned({ kind: 'direct' }) },
    { name: ordinaryName, timeUs: ordinary },
  ]
}
