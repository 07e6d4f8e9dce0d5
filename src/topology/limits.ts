import { wrongValue } from '../errors.js'

/** The largest topology: indices are 32-bit, and the lists of both sides take about 2 GB. */
export const topologyLimits: { readonly ranks: number; readonly edges: number } = {
  ranks: 2 ** 24,
  edges: 2 ** 27,
}

/**
 * Lowers the limits of this thread for good, for threads that work on untrusted input. Every reader and generator
 * respects them before it allocates.
 */
export function lowerTopologyLimits({
  ranks,
  edges,
}: {
  readonly ranks: number
  readonly edges: number
}): void {
  Object.assign(topologyLimits, {
    ranks: Math.min(ranks, topologyLimits.ranks),
    edges: Math.min(edges, topologyLimits.edges),
  })
}

/**
 * Rejects sizes that no machine could hold, before anything is allocated.
 *
 * @throws ERR_TOPOLOGY
 */
export function checkTopologySize(what: string, ranks: number, edges: number): void {
  if (!Number.isInteger(ranks) || ranks < 1 || ranks > topologyLimits.ranks) {
    const expected = `${what}: expected 1 to ${topologyLimits.ranks} ranks`
    throw wrongValue('ERR_TOPOLOGY', expected, ranks, typeof ranks === 'number' ? { ranks } : {})
  }
  if (edges > topologyLimits.edges) {
    const expected = `${what}: expected at most ${topologyLimits.edges} edges`
    throw wrongValue('ERR_TOPOLOGY', expected, edges, { ranks, edges })
  }
}
