import { simulate } from '../../cost/simulate/simulate.js'
import { simulateFrames } from '../../cost/simulate/simulate-frames.js'
import type { Simulation } from '../../cost/simulate/simulation.js'
import type { Machine } from '../../machine/machine.js'
import type { Level } from '../../machine/profile.js'
import { distinctOut } from '../../topology/neighbors.js'
import { plan } from '../plan/plan.js'
import { planOperation } from '../plan/plan-operation.js'
import { deliveryTrees } from '../strategies/delivery-trees.js'
import { checkedKind, strategyKind } from '../strategies/strategies.js'
import type { Strategy } from '../strategies/strategy.js'
import type { RouteFacts } from '../strategies/strategy-kind.js'
import { formatStrategy, parametersOf } from '../strategies/strategy-text.js'
import { type Alternative, type ChosenOperation, exactMs } from './choice.js'
import { framesOfMoves } from './frames-of-moves.js'

/** What strategies are simulated for. */
export interface Setting {
  readonly facts: RouteFacts
  readonly machine: Machine
  readonly operation: ChosenOperation
  readonly bytes: number
  /** Milliseconds; only differences count. */
  readonly now: () => number
}

/** A strategy that was simulated. Small: its moves and its schedule are not retained. */
export interface Simulated extends Pick<Simulation, 'timeUs' | 'traffic'> {
  readonly strategy: Strategy
  readonly text: string
  /** Blocks that are moved: how much work it was. */
  readonly moved: number
  /** How long planning takes: where no schedule was needed to simulate it, it is planned now. */
  planMs(): number
}

/** A strategy planned and simulated, before it is compared with direct sends. */
export type Trial = Omit<Alternative, 'breakEvenStarts' | 'breakEvenIsAtMost'>

/**
 * Simulates a strategy: an allgather along a route by the moves of its blocks, without a schedule. Where
 * slots are copied the times differ from those of the schedule by rounding.
 *
 * @throws ERR_STRATEGY
 */
export function simulated(strategy: Strategy, setting: Setting): Simulated {
  const { facts, machine, operation, bytes, now } = setting
  const hasRoute = strategyKind(strategy).schedule === undefined || strategy.kind === 'direct'
  if (operation === 'neighbor-allgather' && hasRoute) return followed(strategy, setting)
  const { schedule, planMs } = planOperation(facts.topology, strategy, operation, { machine, now })
  const simulation = simulate(schedule, machine, { bytes })
  return simulatedAs(strategy, simulation, schedule.entryBlock.length / 2, () => planMs)
}

function followed(strategy: Strategy, { facts, machine, bytes, now }: Setting): Simulated {
  const { topology } = facts
  const kind = checkedKind(strategy, topology.ranks)
  const moves = deliveryTrees(kind.route(strategy, facts), distinctOut(topology), topology.ranks)
  const simulation = simulateFrames(framesOfMoves(topology, moves), machine, bytes)
  // The closure must not capture the moves: it lives as long as the choice takes.
  const planMs = () => plan(topology, strategy, { machine, now }).planMs
  return simulatedAs(strategy, simulation, moves.block.length, planMs)
}

function simulatedAs(
  strategy: Strategy,
  { timeUs, traffic }: Pick<Simulation, 'timeUs' | 'traffic'>,
  moved: number,
  planMs: () => number,
): Simulated {
  return { strategy, text: formatStrategy(strategy), timeUs, traffic, moved, planMs }
}

/** Plans what was simulated. */
export function trialOf({ strategy, text, timeUs, traffic, planMs }: Simulated): Trial {
  const bytesOf = (level: Level) => traffic[level].bytes
  return {
    strategy: text,
    parameters: parametersOf(strategy),
    timeUs,
    messages: traffic.package.messages + traffic.node.messages + traffic.network.messages,
    bytes: {
      process: bytesOf('process'),
      package: bytesOf('package'),
      node: bytesOf('node'),
      network: bytesOf('network'),
    },
    planMs: planMs(),
  }
}

/**
 * Starts until planning that takes `moreMs` longer than that of direct sends has paid; null where a start
 * saves nothing.
 */
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
