import { wrongValue } from '../errors.js'
import { type AutoStrategy, isAuto } from '../neighborhood/choose/auto.js'
import { type Strategy, strategies, strategyKinds } from '../neighborhood/strategies/strategies.js'
import { strategyError } from '../topology/friends/grouping-options.js'

const choices = ['graph', 'neighbors'] as const
export type PlanFrom = (typeof choices)[number]

/**
 * The most edges, counted with multiplicity, of graphs that `createDistGraphAdjacent` gathers by default, by the kind
 * of the strategy (docs/plans-at-scale.md#larger-graphs).
 */
export const planningLimits = Object.fromEntries(
  strategyKinds.map((kind) => [kind, strategies[kind].planningLimit]),
) as Readonly<Record<Strategy['kind'], number>>

/** The most edges of graphs for which a strategy is chosen by default; for larger ones ranks plan direct sends. */
export const autoLimit = 2 ** 20

/**
 * Graphs of up to so many edges are gathered in any case if ranks are renumbered, because whole graphs are mapped
 * better.
 */
export const reorderLimit = 2 ** 20

/** Returns the most edges of a graph that is gathered for a strategy by default. */
export function limitOf(strategy: Strategy | AutoStrategy, isReordered = false): number {
  const limit = isAuto(strategy) ? autoLimit : planningLimits[strategy.kind]
  return isReordered ? Math.max(limit, reorderLimit) : limit
}

/** @throws ERR_ARGUMENT for another word, ERR_STRATEGY for an engine that cannot plan that way */
export function checkPlanFrom(strategy: Strategy | AutoStrategy, planFrom: unknown): void {
  if (planFrom !== undefined && !choices.includes(planFrom as PlanFrom)) {
    const expected = "createDistGraphAdjacent: expected planFrom 'graph' or 'neighbors'"
    throw wrongValue('ERR_ARGUMENT', expected, planFrom)
  }
  const engine = strategy?.kind === 'common-neighbor' ? strategy.engine : undefined
  if (planFrom === 'graph' && engine === 'distributed') {
    throw strategyError(
      "engine distributed plans from neighbors, got planFrom 'graph'; engine greedy finds the same",
    )
  }
  const needsGraph = isAuto(strategy) || planningLimits[strategy?.kind] === Number.POSITIVE_INFINITY
  if (planFrom === 'neighbors' && needsGraph)
    throw strategyError(`${strategy.kind} needs the whole graph, got planFrom 'neighbors'`)
  if (planFrom === 'neighbors' && (engine === 'improved' || engine === 'exact'))
    throw strategyError(`engine ${engine} needs the whole graph, got planFrom 'neighbors'`)
}

/** Returns how to plan, or undefined if the size of the graph decides. A single process has the whole graph anyway. */
export function planFromOf(strategy: Strategy | AutoStrategy, processes: number): PlanFrom | undefined {
  const engine = strategy.kind === 'common-neighbor' ? strategy.engine : undefined
  if (engine === 'distributed') return 'neighbors'
  return engine === undefined && processes > 1 ? undefined : 'graph'
}
