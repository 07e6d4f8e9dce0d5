import type { ByteSource } from '../../text/byte-source.js'
import { formatDouble } from '../../text/printable.js'
import { infinityOf, TextReader } from '../../text/text-reader.js'
import { topologyLimits } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { GrowingEdges } from './growing-edges.js'

/**
 * Parses a topology from plain text: one edge per line, `source destination [weight]`, either all or no lines with a
 * weight. The attributes that networkx writes behind an edge, `{}` or `{'weight': 2.5, ...}`, may stand for the weight.
 * `#` starts a comment; blank lines are skipped. The first line may be `ranks N`; without it the number of ranks is the
 * largest rank plus one. Lists are in the order of the lines.
 *
 * @throws ERR_TOPOLOGY with file, line and column
 */
export function parseEdgeList(source: string | ByteSource, file = 'edge list'): ProcessTopology {
  const reader = new TextReader(source, {
    file,
    code: 'ERR_TOPOLOGY',
    comment: '#',
    inlineComments: true,
  })
  const edges = new GrowingEdges(reader)
  let ranks: number | null = null
  while (reader.nextContentLine()) {
    if (reader.startsWith('ranks')) {
      if (ranks !== null || edges.count > 0)
        reader.fail("'ranks N' only once, before all edges", reader.shown())
      reader.word()
      ranks = reader.whole('a number of ranks', 1, topologyLimits.ranks)
      reader.endOfLine()
      continue
    }
    const last = (ranks ?? topologyLimits.ranks) - 1
    const from = reader.whole('a source rank', 0, last)
    const to = reader.whole('a destination rank', 0, last)
    const attribute = reader.peekField().startsWith('{') ? weightAttribute(reader) : undefined
    const weighted = attribute === undefined ? !reader.atLineEnd() : attribute !== null
    edges.expectWeight(weighted)
    edges.add(
      from,
      to,
      weighted ? (attribute ?? reader.number('a number as weight', { infinite: true })) : null,
    )
    reader.endOfLine()
  }
  if (ranks === null && edges.count === 0) reader.fail("edges or a line 'ranks N'", 'the end of the text')
  return edges.toTopology(ranks)
}

/** Reads the attributes of an edge, a dictionary of Python; returns `weight` of them, or null. */
function weightAttribute(reader: TextReader): number | null {
  const begin = reader.here()
  const attributes = reader.field()
  if (!attributes.endsWith('}')) reader.fail("'}' at the end of the line", reader.shown())
  const text = /['"]weight['"]: *([^\s,}]*)/.exec(attributes)?.[1]
  if (text === undefined) return null
  const weight = infinityOf(text) ?? Number(text || Number.NaN)
  return Number.isNaN(weight) ? reader.fail("a number as 'weight'", `'${text.slice(0, 40)}'`, begin) : weight
}

/** Yields the text that {@link parseEdgeList} reads, in pieces; edges ordered by source, then in list order. */
export function* edgeListText({ ranks, outStart, outRank, outWeight }: ProcessTopology): Generator<string> {
  yield `ranks ${ranks}\n`
  for (let p = 0; p < ranks; p++)
    for (let e = outStart[p]; e < outStart[p + 1]; e++)
      yield outWeight === null ? `${p} ${outRank[e]}\n` : `${p} ${outRank[e]} ${formatDouble(outWeight[e])}\n`
}
