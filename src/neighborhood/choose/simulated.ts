import { GrowingInt32Array } from '../../base/growing-array.js'
import { type FrameGraph, sentIn, simulate, simulateFrames } from '../../cost/simulate/simulate.js'
import type { Simulation } from '../../cost/simulate/simulation.js'
import type { Machine } from '../../machine/machine.js'
import { distinctIn, distinctOut } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Plan } from '../plan/plan.js'
import { plan } from '../plan/plan.js'
import { deliveryTrees, type Moves, movesByMessage } from '../strategies/delivery-trees.js'
import {
  checkedKind,
  formatStrategy,
  parametersOf,
  type Strategy,
  strategyKind,
} from '../strategies/strategies.js'
import type { RouteFacts } from '../strategies/strategy-kind.js'
import { type Alternative, type ChosenOperation, exactMs } from './auto.js'

/** The setting for which strategies are simulated. */
export interface Setting {
  readonly facts: RouteFacts
  readonly machine: Machine
  readonly operation: ChosenOperation
  readonly bytes: number
  /** The clock, in milliseconds; only differences count. */
  readonly now: () => number
}

/** A strategy that was simulated. Small: its moves and its schedule are not retained. */
export interface Simulated extends Pick<Simulation, 'timeUs' | 'traffic'> {
  readonly strategy: Strategy
  readonly text: string
  /** The number of blocks that are moved, which measures the work. */
  readonly moved: number
  /** Returns the planning time. If the simulation needed no schedule, it plans now. */
  planMs(): number
}

/** The time of a strategy, and the end of each rank. */
interface TimedStrategy extends Pick<Simulation, 'timeUs' | 'endUs' | 'traffic'> {
  /** The number of blocks that are moved, which measures the work. */
  readonly moved: number
  /** The planning time; null if no schedule was needed. */
  readonly planMs: number | null
}

/**
 * Simulates a strategy. An allgather along a route is simulated by the moves of its blocks, without a schedule. If
 * slots are copied, the times differ from those of the schedule by rounding.
 *
 * @throws ERR_STRATEGY
 */
export function timedStrategy(strategy: Strategy, setting: Setting): TimedStrategy {
  const { facts, machine, operation, bytes } = setting
  const { topology } = facts
  const kind = checkedKind(strategy, topology.ranks)
  if (!isTimedByMoves(strategy, operation)) {
    const { schedule, planMs } = planned(strategy, setting)
    const { timeUs, endUs, traffic } = simulate(schedule, machine, { bytes })
    return { timeUs, endUs, traffic, moved: schedule.entryBlock.length / 2, planMs }
  }
  const moves = deliveryTrees(kind.route(strategy, facts), distinctOut(topology), topology.ranks)
  const simulation = simulateFrames(framesOfMoves(topology, moves), machine, bytes)
  return { ...simulation, moved: moves.block.length, planMs: null }
}

/** Whether a strategy is simulated by the moves of its blocks, without a schedule. */
export function isTimedByMoves(strategy: Strategy, operation: ChosenOperation): boolean {
  const hasRoute = strategyKind(strategy).schedule === undefined || strategy.kind === 'direct'
  return operation === 'neighbor-allgather' && hasRoute
}

function planned(strategy: Strategy, { facts, machine, operation, now }: Setting): Plan {
  return plan(facts.topology, strategy, { operation, machine, now, ...facts.progress })
}

/** @throws as {@link timedStrategy} */
export function simulated(strategy: Strategy, setting: Setting): Simulated {
  const { timeUs, traffic, moved, planMs } = timedStrategy(strategy, setting)
  const text = formatStrategy(strategy)
  return {
    ...{ strategy, text, timeUs, traffic, moved },
    planMs: () => planMs ?? planned(strategy, setting).planMs,
  }
}

/**
 * Returns the starts after which choosing and planning that take `moreMs` longer than planning direct sends have paid
 * off; null if a start saves nothing.
 */
export function startsUntilPaid(moreMs: number, savedUs: number): number | null {
  return savedUs > 0 ? Math.ceil((1000 * moreMs) / savedUs) : null
}

/** Repeats short planning: the first time, code is compiled and memory is cold. */
export function leastOfThree<P extends Plan | null>(make: () => P): P {
  let best = make()
  for (let again = 0; again < 2 && best !== null && best.planMs < shortMs; again++) {
    const next = make()
    if (next !== null && next.planMs < best.planMs) best = next
  }
  return best
}

const shortMs = 100

/** A simulated strategy and its planning time, measured once. */
export interface Trial {
  readonly simulated: Simulated
  readonly planMs: number
}

/** Reports a trial. */
export function alternativeOf({ simulated: trial, planMs }: Trial, direct: Trial): UnpaidAlternative {
  const { strategy, text, timeUs, traffic } = trial
  const savedUs = direct.simulated.timeUs - timeUs
  return {
    strategy: text,
    parameters: parametersOf(strategy),
    timeUs,
    ...sentIn(traffic),
    planMs,
    breakEvenIsAtMost: savedUs > 0 && planMs - direct.planMs < exactMs,
  }
}

/** An alternative whose calls to break even are not known before the choice has ended. */
export type UnpaidAlternative = Omit<Alternative, 'breakEvenStarts'>

/**
 * Returns alternatives, direct sends among them, with their calls to break even after a choice of `choiceMs`. A planning
 * time that was too short to be measured counts as longer than that of direct sends by {@link exactMs}.
 */
export function withBreakEven(alternatives: readonly UnpaidAlternative[], choiceMs: number): Alternative[] {
  const direct = alternatives.find(({ strategy }) => strategy === 'direct')!
  return alternatives.map((each) => {
    const moreMs = Math.max(each.planMs - direct.planMs, each.breakEvenIsAtMost ? exactMs : 0)
    return { ...each, breakEvenStarts: startsUntilPaid(choiceMs + moreMs, direct.timeUs - each.timeUs) }
  })
}

/** Builds the frames of the schedule that has these moves, with one rank per process. Time and memory: moves. */
export function framesOfMoves(topology: ProcessTopology, moves: Moves): FrameGraph {
  const { ranks } = topology
  const { hop, from, to, before } = moves
  const { start, order } = movesByMessage(moves, ranks, from, to)
  const sendStart = new Int32Array(ranks + 1)
  const receivers = new GrowingInt32Array(1024)
  const rounds = new GrowingInt32Array(1024)
  const firsts = new GrowingInt32Array(1024)
  const frameOf = new Int32Array(order.length)
  for (let rank = 0; rank < ranks; rank++) {
    let [lastHop, lastPeer] = [-1, -1]
    for (let i = start[rank]; i < start[rank + 1]; i++) {
      const move = order[i]
      if (hop[move] !== lastHop || to[move] !== lastPeer) {
        lastHop = hop[move]
        lastPeer = to[move]
        rounds.push(lastHop)
        receivers.push(lastPeer)
        firsts.push(i)
      }
      frameOf[move] = receivers.length - 1
    }
    sendStart[rank + 1] = receivers.length
  }
  firsts.push(order.length)

  const frames = receivers.length
  const blocks = new Int32Array(frames)
  const bringerStart = new Int32Array(frames + 1)
  const bringers = new GrowingInt32Array(1024)
  /** By frame, the last frame that was found to wait for it. */
  const awaitedBy = new Int32Array(frames).fill(-1)
  for (let frame = 0; frame < frames; frame++) {
    const [first, end] = [firsts.get(frame), firsts.get(frame + 1)]
    blocks[frame] = end - first
    for (let i = first; i < end; i++) {
      const move = before[order[i]]
      if (move === -1 || awaitedBy[frameOf[move]] === frame) continue
      awaitedBy[frameOf[move]] = frame
      bringers.push(frameOf[move])
    }
    bringerStart[frame + 1] = bringers.length
  }
  return {
    sendStart,
    to: receivers.toArray(),
    round: rounds.toArray(),
    blocks,
    bringerStart,
    bringer: bringers.toArray(),
    copies: copiesOf(topology),
  }
}

/**
 * Counts copies. A block arrives in its first slot; further slots of the same source, and those of a rank's own block,
 * are copies.
 */
function copiesOf(topology: ProcessTopology): Int32Array {
  const { inStart, ranks } = topology
  const { start } = distinctIn(topology)
  return Int32Array.from(
    { length: ranks },
    (_, rank) => inStart[rank + 1] - inStart[rank] - (start[rank + 1] - start[rank]),
  )
}
