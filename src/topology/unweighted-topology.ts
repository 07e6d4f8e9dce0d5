import { type CompressedRows, transposeRows } from './compressed-rows.js'
import type { ProcessTopology } from './process-topology.js'

/**
 * A topology without weights from every rank's destinations. Sources ascend unless `into` gives them.
 * Ownership: the arrays are taken over, not copied.
 */
export function unweightedTopology(
  out: CompressedRows,
  into: CompressedRows = transposeRows(out.start.length - 1, out),
): ProcessTopology {
  return {
    ranks: out.start.length - 1,
    outStart: out.start,
    outRank: out.rank,
    outWeight: null,
    inStart: into.start,
    inRank: into.rank,
    inWeight: null,
    pairing: 'occurrence',
    cart: null,
  }
}
