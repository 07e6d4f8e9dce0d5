import { RankweaveError, shown } from '../errors.js'

/** The largest topology: indices are 32-bit, and the lists of both sides take about 2 GB. */
export const topologyLimits: { readonly ranks: number; readonly edges: number } = {
  ranks: 2 ** 24,
  edges: 2 ** 27,
}

/**
 * Lowers the limits of this thread, for good: for threads that work on untrusted input. Every
 * reader and generator respects them before it allocates.
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
  if (!Number.isInteger(ranks) || ranks < 1 || ranks > topologyLimits.ranks)
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `${what}: expected 1 to ${topologyLimits.ranks} ranks, got ${shown(ranks)}`,
      { details: typeof ranks === 'number' ? { ranks } : {} },
    )
  if (edges > topologyLimits.edges)
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `${what}: expected at most ${topologyLimits.edges} edges, got ${edges}`,
      { details: { ranks, edges } },
    )
}
