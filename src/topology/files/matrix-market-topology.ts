import { requireOptions } from '../../base/known-options.js'
import type { ByteSource } from '../../text/byte-source.js'
import { transposeRows } from '../compressed-rows.js'
import { distinctEdges } from '../distinct-edges.js'
import { checkTopologySize } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { unweightedTopology } from '../topology-builders.js'
import { readEntries, type TakeEntry } from './matrix-market-entries.js'
import type { MatrixMarketHeader } from './matrix-market-header.js'

/**
 * Reads the topology of a Matrix Market file distributed over ranks, as `topologyFromMatrix` makes it, without storing
 * the matrix. Memory is bounded by the edges between ranks, however many entries the file has.
 *
 * @throws ERR_MATRIX_MARKET with file, line and column; ERR_TOPOLOGY
 * @see Ghazimirsaeed 2019 §7.6.3
 */
export function topologyFromMatrixMarket(
  source: string | Uint8Array | ByteSource,
  options: { readonly ranks: number; readonly file?: string },
): ProcessTopology {
  requireOptions('topologyFromMatrixMarket', options)
  const { ranks, file = 'matrix' } = options
  checkTopologySize('topology of a matrix', ranks, 0)
  const edges = distinctEdges(ranks)
  const begin = ({ rows, cols }: MatrixMarketHeader): TakeEntry => {
    const receiverOf = blockOf(rows, ranks)
    const senderOf = blockOf(cols, ranks)
    return (row, col) => {
      const receiver = receiverOf(row)
      const sender = senderOf(col)
      if (receiver !== sender) edges.add(receiver, sender)
    }
  }
  readEntries(source, file, begin, 'ignored')
  const into = edges.toRows()
  checkTopologySize('topology of a matrix', ranks, into.rank.length)
  return unweightedTopology(transposeRows(ranks, into), into)
}

/** Returns a function from an element to its block of `blockBounds`. */
function blockOf(count: number, parts: number): (index: number) => number {
  const size = Math.floor(count / parts)
  const larger = count % parts
  const inLarger = larger * (size + 1)
  return (index) =>
    index < inLarger ? Math.floor(index / (size + 1)) : larger + Math.floor((index - inLarger) / size)
}
