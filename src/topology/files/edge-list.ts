import { GrowingFloat64Array, GrowingInt32Array } from '../../base/growing-array.js'
import type { ByteSource } from '../../text/byte-source.js'
import { formatDouble } from '../../text/printable.js'
import { infinityOf, TextReader } from '../../text/text-reader.js'
import { topologyLimits } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { topologyFromEdges } from '../topology-builders.js'
import type { FileNotes } from './file-notes.js'

/**
 * Parses a topology from plain text: one edge per line, `source destination [weight]`, either all or no lines with a
 * weight. The attributes that networkx writes behind an edge, `{}` or `{'weight': 2.5, ...}`, may stand for the weight.
 * `#` starts a comment; blank lines are skipped. The first line may be `ranks N`; without it the number of ranks is the
 * largest rank plus one. Lists are in the order of the lines.
 *
 * @param notes takes what is odd in the text
 * @throws ERR_TOPOLOGY with file, line and column
 */
export function parseEdgeList(
  source: string | ByteSource,
  file = 'edge list',
  notes: FileNotes | null = null,
): ProcessTopology {
  const reader = new TextReader(source, {
    file,
    code: 'ERR_TOPOLOGY',
    comment: '#',
    inlineComments: true,
  })
  const edges = new GrowingEdges(reader, notes)
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
    const attribute = reader.peekField().startsWith('{') ? weightAttribute(reader, notes) : undefined
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
  notes?.textForm(reader)
  return edges.toTopology(ranks)
}

const weightEntry = /['"]weight['"]: *([^\s,}]*)/

/** Reads the attributes of an edge, a dictionary of Python; returns `weight` of them, or null. */
function weightAttribute(reader: TextReader, notes: FileNotes | null): number | null {
  const begin = reader.here()
  const attributes = reader.field()
  if (!attributes.endsWith('}')) reader.fail("'}' at the end of the line", reader.shown())
  if (notes !== null && /\w/.test(attributes.replace(weightEntry, '')))
    notes.odd('ignored-fields', reader.line, "attributes besides 'weight' are ignored")
  const text = weightEntry.exec(attributes)?.[1]
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

/** Edges in the order in which they are read, all with a weight or none. */
export class GrowingEdges {
  readonly #reader: TextReader
  readonly #sources = new GrowingInt32Array()
  readonly #destinations = new GrowingInt32Array()
  readonly #notes: FileNotes | null
  #weights: GrowingFloat64Array | null = null
  #largest = -1

  constructor(reader: TextReader, notes: FileNotes | null) {
    this.#reader = reader
    this.#notes = notes
    if (notes !== null) notes.hasNumbers = true
  }

  get count(): number {
    return this.#sources.length
  }

  /** The number of ranks: the largest that was named, plus one. */
  get ranksNamed(): number {
    return this.#largest + 1
  }

  /** Adds a rank, which need not have edges. */
  name(rank: number): void {
    this.#notes?.name(rank)
    if (rank > this.#largest) this.#largest = rank
  }

  /**
   * Fails unless the edge being read has a weight exactly if those before have one; the reader is at its
   * place.
   */
  expectWeight(given: boolean): void {
    const weighted = this.#weights !== null
    if (this.count === 0 || given === weighted) return
    this.#reader.fail(
      weighted ? 'a weight, as on the lines before' : 'no weight, as on the lines before',
      weighted ? 'the end of the line' : this.#reader.shown(),
    )
  }

  add(source: number, destination: number, weight: number | null): void {
    const e = this.count
    if (e === topologyLimits.edges) this.#reader.fail(`at most ${topologyLimits.edges} edges`, 'more')
    this.#notes?.edge(this.#reader.line, source, destination)
    this.#largest = Math.max(this.#largest, source, destination)
    this.#sources.push(source)
    this.#destinations.push(destination)
    if (weight === null) return
    this.#weights ??= new GrowingFloat64Array()
    this.#weights.push(weight)
  }

  /** @param ranks their number; null: as many as were named, at least one */
  toTopology(ranks: number | null): ProcessTopology {
    if (ranks === null && this.#largest < 0)
      this.#reader.fail('edges or a number of ranks', 'the end of the text')
    return topologyFromEdges(ranks ?? this.#largest + 1, {
      sources: this.#sources.toArray(),
      destinations: this.#destinations.toArray(),
      weights: this.#weights === null ? null : this.#weights.toArray(),
    })
  }
}
