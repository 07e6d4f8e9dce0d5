import type { Machine } from '../../machine/machine.js'
import type { Level } from '../../machine/profile.js'
import { simulate } from '../../simulate/simulate.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { planOperation } from '../plan/plan-operation.js'
import type { Strategy } from '../plan/strategy.js'
import { formatStrategy } from '../plan/strategy-text.js'
import { type Alternative, type Choice, exactMs } from './choice.js'

/** A strategy planned and simulated, before it is compared with direct sends. */
export type Trial = Omit<Alternative, 'breakEvenStarts' | 'breakEvenIsAtMost'>

export function simulated(
  topology: ProcessTopology,
  machine: Machine,
  strategy: Strategy,
  { operation, bytes }: Pick<Choice, 'operation' | 'bytes'>,
  now: () => number,
): Trial {
  const { schedule, planMs } = planOperation(topology, strategy, operation, { machine, now })
  const { timeUs, traffic } = simulate(schedule, machine, { bytes })
  const ofLevel = (level: Level) => traffic[level]
  return {
    strategy: formatStrategy(strategy),
    parameters: schedule.parameters,
    timeUs,
    messages: ofLevel('package').messages + ofLevel('node').messages + ofLevel('network').messages,
    bytes: {
      process: ofLevel('process').bytes,
      package: ofLevel('package').bytes,
      node: ofLevel('node').bytes,
      network: ofLevel('network').bytes,
    },
    planMs,
  }
}

/** Starts until planning that takes `moreMs` longer than that of direct sends has paid; null where a start saves nothing. */
export function startsUntilPaid(moreMs: number, savedUs: number): number | null {
  return savedUs > 0 ? Math.ceil((1000 * moreMs) / savedUs) : null
}

/** Planning, measured once: {@link exactMs} where it is shorter. */
export function withBreakEven(trial: Trial, ofDirect: Trial): Alternative {
  const savedUs = ofDirect.timeUs - trial.timeUs
  const moreMs = trial.planMs - ofDirect.planMs
  return {
    ...trial,
    breakEvenStarts: startsUntilPaid(Math.max(moreMs, exactMs), savedUs),
    breakEvenIsAtMost: savedUs > 0 && moreMs < exactMs,
  }
}
