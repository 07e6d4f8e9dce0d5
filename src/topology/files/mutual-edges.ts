import { type ErrorDetails, RankweaveError } from '../../errors.js'
import { type CompressedRows, rowStarts } from '../compressed-rows.js'

/** Adds the place of an edge to a message about it. */
export type Locate = (
  message: string,
  details: ErrorDetails,
) => { readonly message: string; readonly details: ErrorDetails }

/**
 * Checks that every edge has its reverse, as often and with the same weight. Rows may be in any order.
 *
 * @throws ERR_TOPOLOGY naming the first edge without it
 */
export function checkMutual(
  rows: CompressedRows,
  weight: Float64Array | null,
  locate: Locate = (message, details) => ({ message, details }),
): void {
  const fail = (expected: string, got: string, source: number, destination: number): never => {
    const { message, details } = locate(
      `edge from ${source} to ${destination}: expected ${expected}, got ${got}`,
      { source, destination },
    )
    throw new RankweaveError('ERR_TOPOLOGY', message, { details })
  }
  // Reversed once, rows ascend; reversed twice, they are the given rows, ascending.
  const into = turnWeighted({ ...rows, weight })
  const out = turnWeighted(into)
  const ranks = rows.start.length - 1
  for (let p = 0; p < ranks; p++) {
    let i = into.start[p]
    for (let o = out.start[p]; o < out.start[p + 1]; o++, i++) {
      const q = out.rank[o]
      const source = i < into.start[p + 1] ? into.rank[i] : ranks
      if (source < q) fail('the same edge back', 'none', source, p)
      if (source > q) fail('the same edge back', 'none', p, q)
      if (out.weight !== null && into.weight !== null && out.weight[o] !== into.weight[i])
        fail(`the weight of the edge back, ${into.weight[i]}`, `${out.weight[o]}`, p, q)
    }
    if (i < into.start[p + 1]) fail('the same edge back', 'none', into.rank[i], p)
  }
}

interface WeightedRows extends CompressedRows {
  readonly weight: Float64Array | null
}

function turnWeighted({ start, rank, weight }: WeightedRows): WeightedRows {
  const ranks = start.length - 1
  const turnedStart = rowStarts(ranks, rank)
  const next = turnedStart.slice(0, ranks)
  const turned = new Int32Array(rank.length)
  const turnedWeight = weight === null ? null : new Float64Array(rank.length)
  for (let p = 0; p < ranks; p++)
    for (let e = start[p]; e < start[p + 1]; e++) {
      const at = next[rank[e]]++
      turned[at] = p
      if (turnedWeight !== null) turnedWeight[at] = weight![e]
    }
  return { start: turnedStart, rank: turned, weight: turnedWeight }
}
