import { fastestAllgather, mostAllgatherRanks } from '../cost/simulate/fastest-allgather.js'
import { simulate } from '../cost/simulate/simulate.js'
import type { Machine } from '../machine/machine.js'
import { chooseStrategy } from '../neighborhood/choose/choose-strategy.js'
import { plan } from '../neighborhood/plan/plan.js'
import type { Strategy } from '../neighborhood/strategies/strategies.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { ordinaryName } from './fastest-exchange.js'

/** The predicted time of one exchange. */
interface PredictedExchange {
  /** The name: `planned`, `auto: STRATEGY`, `direct` or `ordinary allgather`. */
  readonly name: string
  /** The time; null for an ordinary allgather of more than {@link mostAllgatherRanks}, which is not simulated. */
  readonly timeUs: number | null
}

/**
 * Simulates one exchange of a product on a machine with one rank per core. Compares the strategy that was used, the
 * library's own choice there, direct sends and the best algorithm of an ordinary allgather, up to {@link
 * mostAllgatherRanks}.
 *
 * @param bytes of every block
 * @param strategy null if an ordinary allgather was used
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
