import { GrowingFloat64Array, GrowingInt32Array } from '../../base/growing-array.js'
import { type ErrorDetails, RankweaveError } from '../../errors.js'
import type { ByteSource } from '../../text/byte-source.js'
import { TextReader } from '../../text/text-reader.js'
import { type CompressedRows, rowStarts } from '../compressed-rows.js'
import { topologyLimits } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import type { FileNotes } from './file-notes.js'

/** A graph as partitioners read it. */
export interface MetisGraph {
  /** The topology: symmetric, without self loops and parallel edges. Rank r is vertex r + 1. */
  readonly topology: ProcessTopology
  /** `constraints` weights per vertex, vertex by vertex; null if the file has none. */
  readonly vertexWeights: Float64Array | null
  /** The number of weights per vertex: 0 if the file has none. */
  readonly constraints: number
  /** The communication volume of every vertex; null if the file has none. */
  readonly vertexSizes: Float64Array | null
}

/** More weights per vertex indicate a damaged header. */
const mostConstraints = 1024
const largest = Number.MAX_SAFE_INTEGER

interface Header {
  readonly vertices: number
  readonly edges: number
  readonly sized: boolean
  readonly constraints: number
  readonly weighted: boolean
}

/**
 * Reads a METIS graph file: `VERTICES EDGES [FORMAT [CONSTRAINTS]]`, then one line per vertex, 1-based, with its size,
 * its weights and its neighbors. Each neighbor may have a weight. The three digits of FORMAT say which of these there
 * are. `%` begins a comment line; an empty line is a vertex without neighbors. Sources and destinations are in the
 * order of the line. Every edge must be listed at both of its ends, with the same weight.
 *
 * @param file name in messages
 * @throws ERR_TOPOLOGY with file, line and column; names an edge that only one end lists
 * @see Karypis 2013, METIS 5.1 Manual §4.1.1
 */
export function parseMetis(source: string | ByteSource, file = 'graph'): MetisGraph {
  return readMetis(metisReader(source, file), file)
}

/** Works as {@link parseMetis} does, and notes how the text was read, and what is odd in it. */
export function topologyFromMetis(
  source: string | ByteSource,
  file: string,
  notes: FileNotes | null = null,
): ProcessTopology {
  const reader = metisReader(source, file)
  const { topology, constraints, vertexSizes } = readMetis(reader, file)
  notes?.textForm(reader)
  if (notes !== null && (constraints > 0 || vertexSizes !== null))
    notes.leftOut = 'weights and sizes of vertices'
  return topology
}

function metisReader(source: string | ByteSource, file: string): TextReader {
  return new TextReader(source, { file, code: 'ERR_TOPOLOGY', comment: '%' })
}

function readMetis(reader: TextReader, file: string): MetisGraph {
  const header = readHeader(reader)
  const { vertices, edges, sized, constraints, weighted } = header
  const start = new GrowingInt32Array(reader.bytesLeft === null ? 64 : vertices + 1)
  const lines = new GrowingInt32Array(reader.bytesLeft === null ? 64 : vertices)
  const neighbors = new GrowingInt32Array(reader.bytesLeft === null ? 64 : 2 * edges)
  const weights = new GrowingFloat64Array()
  const vertexWeights = new GrowingFloat64Array()
  const vertexSizes = new GrowingFloat64Array()
  const seenBy = new GrowingInt32Array(reader.bytesLeft === null ? 64 : vertices)
  start.push(0)
  for (let v = 0; v < vertices; v++) {
    if (!reader.nextLineButComments())
      reader.fail(`${vertices} lines of vertices`, `the end of the file after ${v}`)
    lines.push(reader.line)
    if (sized) vertexSizes.push(reader.whole('the size of a vertex', 0, largest))
    for (let c = 0; c < constraints; c++) vertexWeights.push(reader.whole('a vertex weight', 0, largest))
    while (!reader.atLineEnd()) {
      const at = reader.here()
      const u = reader.whole('a vertex', 1, vertices) - 1
      if (u === v) reader.fail('no edge from a vertex to itself', `vertex ${v + 1} as its own neighbor`, at)
      while (seenBy.length <= u) seenBy.push(-1)
      if (seenBy.get(u) === v)
        reader.fail('every neighbor once', `vertex ${u + 1} again for vertex ${v + 1}`, at)
      if (neighbors.length === 2 * edges)
        reader.fail(`${2 * edges} neighbors, two for each of the ${edges} edges`, 'more', at)
      seenBy.set(u, v)
      neighbors.push(u)
      if (weighted) weights.push(reader.whole('an edge weight', 1, largest))
    }
    start.push(neighbors.length)
  }
  while (reader.nextLineButComments())
    if (!reader.atLineEnd()) reader.fail(`the end of the file after ${vertices} vertices`, reader.shown())
  if (neighbors.length !== 2 * edges)
    reader.fail(`${2 * edges} neighbors, two for each of the ${edges} edges`, `${neighbors.length}`)

  const rows = { start: start.toArray(), rank: neighbors.toArray() }
  const weight = weighted ? weights.toArray() : null
  checkMutual(rows, weight, (message, details) => {
    const line = lines.get(Number(details['source']))
    return { message: `${file}:${line}:1: ${message}`, details: { file, line, column: 1, ...details } }
  })
  return {
    topology: {
      ranks: vertices,
      outStart: rows.start,
      outRank: rows.rank,
      outWeight: weight,
      inStart: rows.start,
      inRank: rows.rank,
      inWeight: weight,
      pairing: 'occurrence',
      cart: null,
    },
    vertexWeights: constraints > 0 ? vertexWeights.toArray() : null,
    constraints,
    vertexSizes: sized ? vertexSizes.toArray() : null,
  }
}

function readHeader(reader: TextReader): Header {
  const line = "a line 'VERTICES EDGES [FORMAT [CONSTRAINTS]]'"
  if (!reader.nextContentLine()) reader.fail(line, 'the end of the file')
  const begin = reader.here()
  const vertices = reader.whole('the number of vertices', 1, topologyLimits.ranks)
  const edges = reader.whole('the number of edges', 0, topologyLimits.edges / 2)
  const formatAt = reader.here()
  const shown = reader.shown()
  const format = reader.atLineEnd() ? '000' : reader.word().padStart(3, '0')
  if (!/^[01]{3}$/.test(format))
    reader.fail('a format of up to three digits 0 or 1: sizes, vertex weights, edge weights', shown, formatAt)
  const [sized, hasWeights, weighted] = [...format].map((digit) => digit === '1')
  let constraints = hasWeights ? 1 : 0
  if (!reader.atLineEnd()) {
    constraints = hasWeights
      ? reader.whole('the number of weights per vertex', 1, mostConstraints)
      : reader.whole('no weights per vertex, as the format says,', 0, 0)
  }
  reader.endOfLine()
  // A line takes at least one byte, a neighbor two. The end of this line has not been read yet.
  const { bytesLeft } = reader
  if (bytesLeft !== null && Math.max(vertices, 4 * edges) > bytesLeft)
    reader.fail(`${vertices} vertices and ${edges} edges`, `only ${bytesLeft} bytes after this line`, begin)
  return { vertices, edges, sized, constraints, weighted }
}

/** Adds the place of an edge to a message about it. */
type Locate = (
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
