import type { ProcessTopology } from '../../topology/process-topology.js'
import { windowsOf } from '../strategies/cartesian.js'
import { type Strategy, strategies, strategyKind } from '../strategies/strategies.js'
import type { Extents } from '../strategies/strategy-kind.js'

/** Lists the strategies to consider, simplest first: of several that take equally long, the first is chosen. */
export function candidatesOf(topology: ProcessTopology, nodeOf: Int32Array): Strategy[] {
  if (topology.ranks <= 1) return [{ kind: 'direct' }]
  const extents = extentsOf(topology, nodeOf)
  const candidates = Object.values(strategies)
    .toSorted((a, b) => a.place - b.place)
    .flatMap((kind): Strategy[] => kind.candidates(extents))
  // Friend groups come last, and those within nodes before others.
  const turnOf = (strategy: Strategy): number => (isGrouped(strategy) ? modes.indexOf(strategy.mode) : -1)
  return candidates.sort((a, b) => turnOf(a) - turnOf(b))
}

const modes = ['aware', 'agnostic']

/** Returns the numbers that the parameters of a topology's strategies have to cover. */
export function extentsOf(topology: ProcessTopology, nodeOf: Int32Array): Extents {
  const sizes = new Map<number, number>()
  for (const node of nodeOf) sizes.set(node, (sizes.get(node) ?? 0) + 1)
  const grid = windowsOf(topology)
  return {
    ranks: topology.ranks,
    nodes: sizes.size,
    largest: [...sizes.values()].reduce((most, size) => Math.max(most, size), 0),
    windows: grid === null ? [] : grid.dims.map((_, d) => grid.high[d] - grid.low[d] + 1),
  }
}

/** Returns strategies of the same kind that differ from one in a step, those that were faster most often first. */
export function similarTo(strategy: Strategy, extents: Extents): Strategy[] {
  return strategyKind(strategy).similar?.(strategy, extents) ?? []
}

/** A strategy that groups friends before its messages are known. */
export type Grouped = Extract<Strategy, { readonly mode: unknown }>

export const isGrouped = (strategy: Strategy): strategy is Grouped => 'mode' in strategy
