import { plan, planStatistics } from '../../src/neighborhood/plan/plan.js'
import type { Strategy } from '../../src/neighborhood/strategies/strategies.js'
import { verify } from '../../src/schedule/verify/verify.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'

/** Ranks in consecutive blocks. */
export const nodesOf = (ranks: number, perNode: number): Int32Array =>
  Int32Array.from({ length: ranks }, (_, rank) => Math.floor(rank / perNode))

/**
 * The columns of the reference tables, per rank: mean sends, most sends, mean sends between nodes, mean
 * blocks sent.
 */
export function sends(topology: ProcessTopology, perNode: number, strategy: Strategy): readonly number[] {
  const nodeOf = nodesOf(topology.ranks, perNode)
  const planned = plan(topology, strategy, { nodeOf })
  const { ok, violations } = verify(planned.schedule)
  if (!ok) throw new Error(violations[0].message)
  const { messages, volumeBlocks } = planStatistics(planned, nodeOf)
  const interNode = messages.interNode ?? Number.NaN
  return [
    messages.meanPerRank,
    messages.maxPerRank,
    interNode / topology.ranks,
    volumeBlocks / topology.ranks,
  ]
}

/**
 * Values with as many digits as the printed ones have: `46.0/264` prints [46.04, 264] the way it is written.
 */
export function asPrinted(values: readonly number[], printed: string): string {
  const words = printed.split('/')
  return words.map((word, i) => values[i].toFixed(word.split('.')[1]?.length ?? 0)).join('/')
}

/** Groups of k friends and nothing else: every exchange and every direct message is sent. */
export const printedRules = (k: number, mode: 'agnostic' | 'aware'): Strategy => ({
  kind: 'common-neighbor',
  k,
  mode,
  dedupe: false,
  elide: false,
})
