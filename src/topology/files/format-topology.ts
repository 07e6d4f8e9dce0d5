import { RankweaveError, wrongValue } from '../../errors.js'
import { formatDouble } from '../../text/printable.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { csvText } from './csv.js'
import { edgeListText } from './edge-list.js'
import { graphologyJsonText } from './graphology-json.js'
import { checkMutual } from './metis.js'

/** The file formats, by their word in a specification. */
export const topologyFormats = ['graphology', 'metis', 'mtx', 'csv', 'edges'] as const

export type TopologyFormat = (typeof topologyFormats)[number]

/**
 * Yields the text of a topology in a format, in pieces. Reading it back gives the same topology, up to the order of
 * lists and facts that the format cannot hold:
 * - `graphology`: JSON; holds both lists of every rank and the weights of both sides
 * - `metis`: symmetric topologies only, without self loops and parallel edges, weights integers of at least 1
 * - `mtx`: Matrix Market, entry (i, j) is the edge from rank j-1 to rank i-1, as `topologyFromMatrix` reads it (without
 *   the weights); no self loops and parallel edges
 * - `csv`, `edges`: hold the destinations' order and the sending side's weights
 *
 * @throws ERR_TOPOLOGY naming the first edge that the format cannot hold
 */
export function topologyText(topology: ProcessTopology, format: TopologyFormat): Iterable<string> {
  requireTopology(topology)
  if (typeof format !== 'string' || !Object.hasOwn(textIn, format))
    throw wrongValue('ERR_ARGUMENT', `expected ${topologyFormats.join(', ')} as format`, format)
  return textIn[format](topology)
}

const textIn: Readonly<Record<TopologyFormat, (topology: ProcessTopology) => Iterable<string>>> = {
  graphology: graphologyJsonText,
  metis: metisText,
  mtx: matrixText,
  csv: csvText,
  edges: edgeListText,
}

function* metisText(topology: ProcessTopology): Generator<string> {
  const { ranks, outStart, outRank, outWeight } = topology
  checkSimple(topology, 'METIS')
  checkMutual({ start: outStart, rank: outRank }, outWeight, (message, details) => ({
    message: `METIS graphs are symmetric: ${message}`,
    details,
  }))
  if (outWeight !== null)
    forEachEdge(topology, (p, q, e) => {
      if (!Number.isSafeInteger(outWeight[e]) || outWeight[e] < 1)
        reject(p, q, 'an integer of at least 1 as weight, as METIS has it', `${outWeight[e]}`)
    })
  yield `${ranks} ${outRank.length / 2}${outWeight === null ? '' : ' 001'}\n`
  for (let p = 0; p < ranks; p++) {
    let line = ''
    for (let e = outStart[p]; e < outStart[p + 1]; e++) {
      line += `${line === '' ? '' : ' '}${outRank[e] + 1}`
      if (outWeight !== null) line += ` ${outWeight[e]}`
    }
    yield `${line}\n`
  }
}

function* matrixText(topology: ProcessTopology): Generator<string> {
  const { ranks, outStart, outRank, outWeight } = topology
  checkSimple(topology, 'a matrix')
  if (outWeight !== null)
    forEachEdge(topology, (p, q, e) => {
      if (!Number.isFinite(outWeight[e])) reject(p, q, 'a finite weight', `${outWeight[e]}`)
    })
  yield `%%MatrixMarket matrix coordinate ${outWeight === null ? 'pattern' : 'real'} general\n`
  yield '% Entry (i, j): rank j-1 sends to rank i-1.\n'
  yield `${ranks} ${ranks} ${outRank.length}\n`
  for (let p = 0; p < ranks; p++)
    for (let e = outStart[p]; e < outStart[p + 1]; e++)
      yield `${outRank[e] + 1} ${p + 1}${outWeight === null ? '' : ` ${formatDouble(outWeight[e])}`}\n`
}

/** Refuses self loops and parallel edges. */
function checkSimple(topology: ProcessTopology, holder: string): void {
  const seenBy = new Int32Array(topology.ranks).fill(-1)
  forEachEdge(topology, (p, q) => {
    if (p === q) reject(p, q, `no self loops, which ${holder} cannot hold`, 'one')
    if (seenBy[q] === p) reject(p, q, `no parallel edges, which ${holder} cannot hold`, 'another')
    seenBy[q] = p
  })
}

function forEachEdge(
  { ranks, outStart, outRank }: ProcessTopology,
  visit: (p: number, q: number, e: number) => void,
): void {
  for (let p = 0; p < ranks; p++) for (let e = outStart[p]; e < outStart[p + 1]; e++) visit(p, outRank[e], e)
}

function reject(source: number, destination: number, expected: string, got: string): never {
  const message = `edge from ${source} to ${destination}: expected ${expected}, got ${got}`
  throw new RankweaveError('ERR_TOPOLOGY', message, { details: { source, destination } })
}
