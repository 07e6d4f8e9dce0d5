import { simulate } from '../../src/cost/simulate/simulate.js'
import type { Machine } from '../../src/machine/machine.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { formatStrategy, type Strategy } from '../../src/neighborhood/strategies/strategies.js'
import type { NeighborSchedule } from '../../src/schedule/ir.js'
import { lower } from '../../src/schedule/lower/lower.js'
import type { LoweredSchedule } from '../../src/schedule/lower/program.js'
import { upTo } from '../../src/schedule/specification.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'

/** A strategy, planned and lowered with a rank per process. */
export interface Tried {
  readonly strategy: string
  readonly schedule: NeighborSchedule
  readonly lowered: LoweredSchedule
}

export function tried(topology: ProcessTopology, strategy: Strategy, machine: Machine): Tried {
  const { schedule } = plan(topology, strategy, { machine })
  return {
    strategy: formatStrategy(strategy),
    schedule,
    lowered: lower(schedule, upTo(topology.ranks)),
  }
}

export interface Timed {
  readonly strategy: string
  readonly timeUs: number
  readonly messages: number
  readonly networkMessages: number
  readonly networkBytes: number
}

/**
 * Simulated times of strategies, by machine and bytes, in their order; each strategy is planned once. The
 * machines have the same nodes.
 */
export function simulatedTimes(
  topology: ProcessTopology,
  strategies: readonly Strategy[],
  runs: readonly { readonly machine: Machine; readonly bytes: number }[],
): readonly (readonly Timed[])[] {
  const times: Timed[][] = runs.map(() => [])
  for (const strategy of strategies) {
    const { lowered, strategy: text } = tried(topology, strategy, runs[0].machine)
    for (const [i, { machine, bytes }] of runs.entries()) {
      const { timeUs, traffic } = simulate(lowered, machine, { bytes })
      const { package: near, node, network } = traffic
      times[i].push({
        strategy: text,
        timeUs,
        messages: near.messages + node.messages + network.messages,
        networkMessages: network.messages,
        networkBytes: network.bytes,
      })
    }
  }
  return times
}

export function fastest<T extends { readonly timeUs: number }>(times: readonly T[]): T {
  return times.reduce((best, each) => (each.timeUs < best.timeUs ? each : best))
}
