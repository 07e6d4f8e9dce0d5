import { simulate } from '../../cost/simulate/simulate.js'
import { simulateFrames } from '../../cost/simulate/simulate-frames.js'
import type { Simulation } from '../../cost/simulate/simulation.js'
import { sentIn } from '../../cost/simulate/traffic.js'
import type { Machine } from '../../machine/machine.js'
import { distinctOut } from '../../topology/neighbors.js'
import { plan } from '../plan/plan.js'
import { deliveryTrees } from '../strategies/delivery-trees.js'
import { checkedKind } from '../strategies/strategies.js'
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

/**
 * Simulates a strategy: an allgather along a route by the moves of its blocks, without a schedule. Where
 * slots are copied the times differ from those of the schedule by rounding.
 *
 * @throws ERR_STRATEGY
 */
export function simulated(strategy: Strategy, setting: Setting): Simulated {
  const { facts, machine, operation, bytes, now } = setting
  const { topology } = facts
  const planned = () => plan(topology, strategy, { operation, machine, now, ...facts.progress })
  const kind = checkedKind(strategy, topology.ranks)
  const hasRoute = kind.schedule === undefined || strategy.kind === 'direct'
  const text = formatStrategy(strategy)
  if (operation !== 'neighbor-allgather' || !hasRoute) {
    const { schedule, planMs } = planned()
    const { timeUs, traffic } = simulate(schedule, machine, { bytes })
    return { strategy, text, timeUs, traffic, moved: schedule.entryBlock.length / 2, planMs: () => planMs }
  }
  const moves = deliveryTrees(kind.route(strategy, facts), distinctOut(topology), topology.ranks)
  const { timeUs, traffic } = simulateFrames(framesOfMoves(topology, moves), machine, bytes)
  const moved = moves.block.length
  // The closure must not capture the moves: it lives as long as the choice takes.
  return { strategy, text, timeUs, traffic, moved, planMs: () => planned().planMs }
}

/**
 * Starts until planning that takes `moreMs` longer than that of direct sends has paid; null where a start
 * saves nothing.
 */
export function startsUntilPaid(moreMs: number, savedUs: number): number | null {
  return savedUs > 0 ? Math.ceil((1000 * moreMs) / savedUs) : null
}

/** A strategy that was simulated, and how long planning it took: measured once. */
export interface Trial {
  readonly simulated: Simulated
  readonly planMs: number
}

/** What is reported of a trial. Planning that takes less than {@link exactMs} longer counts as that. */
export function alternativeOf({ simulated: trial, planMs }: Trial, direct: Trial): Alternative {
  const { strategy, text, timeUs, traffic } = trial
  const savedUs = direct.simulated.timeUs - timeUs
  const moreMs = planMs - direct.planMs
  return {
    strategy: text,
    parameters: parametersOf(strategy),
    timeUs,
    ...sentIn(traffic),
    planMs,
    breakEvenStarts: startsUntilPaid(Math.max(moreMs, exactMs), savedUs),
    breakEvenIsAtMost: savedUs > 0 && moreMs < exactMs,
  }
}
