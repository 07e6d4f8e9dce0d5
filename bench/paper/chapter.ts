import type { Machine } from '../../src/machine/machine.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import type { Strategy } from '../../src/neighborhood/strategies/strategies.js'
import { erdosRenyiTopology } from '../../src/topology/generate/random-graphs.js'
import { mooreTopology } from '../../src/topology/generate/stencil.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'

/**
 * The settings of chapter 7 of Ghazimirsaeed 2019 (PhD thesis, Queen's University). Clusters, ranks and
 * lengths are printed; consecutive ranks on a node, periodic grids and the generator of random graphs are
 * not, and are ours.
 */
export interface Setting {
  readonly name: string
  readonly topology: () => ProcessTopology
  readonly machine: Machine
  readonly strategies: readonly Strategy[]
  readonly bytes: readonly number[]
}

/** Niagara, 40 cores per node: 4,096 ranks fill 102 nodes and 16 cores (section 7.6.1). */
export const niagara = 'cluster:nodes=103,cores=40,profile=niagara'
/** Graham, 32 cores per node: 1,024 ranks (section 7.6.2). */
export const graham = 'cluster:nodes=32,cores=32,profile=graham'

export const mooreSizes = [2, 4, 8, 16] as const
export const randomSizes = [2, 3, 4, 6] as const
export const densities = [0.05, 0.2, 0.4, 0.6, 0.8] as const
const lengths = [4, 64, 256, 1024, 4096] as const

/** Dimensions and radius of the Moore neighborhoods, 4,096 ranks each. */
export const grids = [
  { name: 'd=2, r=1', dims: [64, 64], radius: 1 },
  { name: 'd=2, r=2', dims: [64, 64], radius: 2 },
  { name: 'd=2, r=3', dims: [64, 64], radius: 3 },
  { name: 'd=2, r=4', dims: [64, 64], radius: 4 },
  { name: 'd=3, r=1', dims: [16, 16, 16], radius: 1 },
  { name: 'd=3, r=2', dims: [16, 16, 16], radius: 2 },
  { name: 'd=4, r=1', dims: [8, 8, 8, 8], radius: 1 },
] as const

/**
 * Groups of k friends and nothing else: what section 7.4 sends, without what Rankweave leaves out besides.
 */
export function printedRules(k: number, mode: 'aware' | 'agnostic'): Strategy {
  return { kind: 'common-neighbor', k, mode, dedupe: false, elide: false }
}

/** Section 7.6.1: every k and mode at 4 bytes; d=2, r=4 by length too. */
export function mooreSettings(): Setting[] {
  const strategies = (['agnostic', 'aware'] as const).flatMap((mode) =>
    mooreSizes.map((k) => printedRules(k, mode)),
  )
  return grids.map(({ name, dims, radius }) => ({
    name,
    topology: () => mooreTopology({ dims: [...dims], radius }),
    machine: parseMachine(niagara),
    strategies,
    bytes: name === 'd=2, r=4' ? lengths : [4],
  }))
}

/** Section 7.6.2, Figure 7.10: aware groups; grouping agnostic ones is called infeasible there. */
export function randomSettings(): Setting[] {
  return densities.map((density) => ({
    name: `density ${density}`,
    topology: () => erdosRenyiTopology({ ranks: 1024, density, seed: 1 }),
    machine: parseMachine(graham),
    strategies: randomSizes.map((k) => printedRules(k, 'aware')),
    bytes: lengths,
  }))
}
