import { jsonDepth, longMemberAt, mostJsonDepth } from '../../base/json-depth.js'
import { requireOptions } from '../../base/known-options.js'
import { RankweaveError, shown } from '../../errors.js'
import { asSource, type ByteSource, readText } from '../../text/byte-source.js'
import { type JsonPath, lineAndColumn, placeInJson, walkJson } from '../../text/json-places.js'
import { formatDouble, printable } from '../../text/printable.js'
import { rowStarts } from '../compressed-rows.js'
import { topologyLimits } from '../limits.js'
import { pairEdges } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { topologyFromEdges, topologyFromLists } from '../topology-builders.js'
import type { FileNotes } from './file-notes.js'

/**
 * Parses a topology from the JSON text of graphology's `graph.export()`. As in `topologyFromGraph`, nodes become ranks
 * in their order, and an undirected edge is an edge each way. A node or an edge has at most 65,536 characters, its
 * attributes included, and so have the attributes of the graph; values nest at most 64 deep.
 *
 * @param options `file`: name in messages; `weight`: the edge attribute that holds weights, null to ignore weights
 * @param notes takes what is odd in the graph
 * @throws ERR_TOPOLOGY with file, line and column; ERR_FILE for bytes that are not text
 * @see https://graphology.github.io/serialization.html
 */
export function parseGraphologyJson(
  source: string | ByteSource,
  options: { readonly file?: string; readonly weight?: string | null } = {},
  notes: FileNotes | null = null,
): ProcessTopology {
  requireOptions('parseGraphologyJson', options)
  const { file = 'graph', weight = 'weight' } = options
  const text = typeof source === 'string' ? source : readText(asSource(source), file)
  const document = new GraphDocument(text.replace(/^\ufeff/, ''), file, notes)
  return document.toTopology(weight)
}

/** The most characters of a node or an edge, attributes included, and of the attributes or the options of a graph. */
const longestMember = 2 ** 16

const isInfinite = (value: unknown) => typeof value === 'number' && Math.abs(value) === Infinity

class GraphDocument {
  readonly #text: string
  readonly #file: string
  readonly #notes: FileNotes | null

  constructor(text: string, file: string, notes: FileNotes | null) {
    this.#text = text
    this.#file = file
    this.#notes = notes
    if (notes === null) return
    notes.lineOf = (e) => this.#line(['edges', e])
  }

  #line(path: JsonPath): number {
    return lineAndColumn(this.#text, placeInJson(this.#text, path)).line
  }

  toTopology(weightName: string | null): ProcessTopology {
    const graph = this.#object(this.#parse(), [])
    const undirected = this.#undirectedByDefault(graph)
    const nodes = this.#list(graph['nodes'], ['nodes'])
    if (nodes.length < 1 || nodes.length > topologyLimits.ranks)
      this.#fail(['nodes'], `1 to ${topologyLimits.ranks} nodes`, `${nodes.length}`)
    const rankOf = new Map<string, number>()
    for (const [rank, node] of nodes.entries()) {
      const key = this.#key(this.#object(node, ['nodes', rank])['key'], ['nodes', rank, 'key'])
      if (rankOf.has(key)) this.#fail(['nodes', rank, 'key'], 'every key once', `'${key.slice(0, 40)}' again`)
      rankOf.set(key, rank)
    }
    this.#noteNumbering([...rankOf.keys()])
    const edges: GraphEdge[] = []
    for (const [e, value] of this.#list(graph['edges'] ?? [], ['edges']).entries()) {
      const edge = this.#object(value, ['edges', e])
      const end = (name: string): number => {
        const key = this.#key(edge[name], ['edges', e, name])
        return rankOf.get(key) ?? this.#fail(['edges', e, name], 'the key of a node', `'${key.slice(0, 40)}'`)
      }
      const source = end('source')
      const destination = end('target')
      const attributes = this.#object(edge['attributes'] ?? {}, ['edges', e, 'attributes'])
      const bothWays = this.#flag(edge['undirected'], ['edges', e, 'undirected']) ?? undirected
      const forth = {
        source,
        destination,
        ...this.#weights(attributes, weightName, e),
        ...slotsOf(bothWays ? {} : attributes),
      }
      edges.push(forth)
      this.#notes?.edge(e, source, destination)
      if (bothWays && source !== destination) {
        edges.push({ ...forth, source: destination, destination: source })
        this.#notes?.edge(e, destination, source)
      }
      if ((forth.weight === null) !== (edges[0].weight === null))
        this.#fail(['edges', e], `the attribute '${weightName}' on every edge or on none`, 'it on some')
      if (edges.length > topologyLimits.edges)
        this.#fail(['edges', e], `at most ${topologyLimits.edges} edges`, 'more')
    }
    return topologyFromGraphEdges(nodes.length, edges, weightName)
  }

  /** Notes keys that are numbers, but not those of the ranks, which follow the order of nodes. */
  #noteNumbering(keys: readonly string[]): void {
    if (this.#notes === null || !keys.every((key) => /^\d+$/.test(key))) return
    for (const [rank, key] of keys.entries())
      if (Number(key) !== rank)
        this.#notes.odd(
          'numbering',
          () => this.#line(['nodes', rank]),
          `node '${key.slice(0, 40)}' is rank ${rank}`,
        )
  }

  #parse(): unknown {
    if (jsonDepth(this.#text, mostJsonDepth) > mostJsonDepth)
      return this.#failAt(0, `values nested at most ${mostJsonDepth} deep`, 'deeper ones')
    const longAt = longMemberAt(this.#text, longestMember)
    if (longAt !== null)
      return this.#failAt(
        longAt,
        `nodes and edges, and attributes and options of a graph, of at most ${longestMember} characters`,
        'longer ones',
      )
    try {
      return JSON.parse(this.#text)
    } catch {
      const fault = walkJson(this.#text) ?? { at: 0, expected: 'JSON' }
      const got = this.#text.slice(fault.at, fault.at + 20)
      return this.#failAt(fault.at, fault.expected, got === '' ? 'the end of the text' : JSON.stringify(got))
    }
  }

  /** Whether edges need no mark as undirected: in a graph of type `undirected`. */
  #undirectedByDefault(graph: Attributes): boolean {
    const { type } = this.#object(graph['options'] ?? {}, ['options'])
    if (type === undefined || type === 'directed' || type === 'mixed') return false
    if (type === 'undirected') return true
    return this.#fail(['options', 'type'], "'directed', 'undirected' or 'mixed'", JSON.stringify(type))
  }

  #weights(attributes: Attributes, name: string | null, e: number) {
    // The parser returns infinity for numbers that do not fit into a double, such as 1e999.
    for (const each of [name ?? '', 'inWeight', 'outSlot', 'inSlot'])
      if (Object.hasOwn(attributes, each) && isInfinite(attributes[each]))
        this.#fail(['edges', e, 'attributes', each], 'a number that a double can hold', 'a larger one')
    try {
      return weightsOf(String(e), attributes, name)
    } catch {
      return this.#fail(['edges', e, 'attributes', name ?? ''], 'a number', kindOf(attributes[name ?? '']))
    }
  }

  #object(value: unknown, path: JsonPath): Attributes {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Attributes
    return this.#fail(path, 'an object', kindOf(value))
  }

  #list(value: unknown, path: JsonPath): readonly unknown[] {
    return Array.isArray(value) ? value : this.#fail(path, `a list of ${path.join('.')}`, kindOf(value))
  }

  #key(value: unknown, path: JsonPath): string {
    if (typeof value === 'string' || typeof value === 'number') return String(value)
    return this.#fail(path, `${path.at(-1)}, a string or a number`, kindOf(value))
  }

  #flag(value: unknown, path: JsonPath): boolean | undefined {
    if (value === undefined || typeof value === 'boolean') return value
    return this.#fail(path, 'true or false', kindOf(value))
  }

  #fail(path: JsonPath, expected: string, got: string): never {
    return this.#failAt(placeInJson(this.#text, path), expected, got)
  }

  #failAt(at: number, expected: string, got: string): never {
    const { line, column } = lineAndColumn(this.#text, at)
    const message = `${this.#file}:${line}:${column}: expected ${expected}, got ${printable(got)}`
    throw new RankweaveError('ERR_TOPOLOGY', message, { details: { file: this.#file, line, column } })
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'none'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/**
 * Yields the topology as graphology's JSON, in pieces; {@link parseGraphologyJson} and graphology's `import` read it.
 * It holds both lists of every rank and the weights of both sides, not a Cartesian shape.
 *
 * @throws ERR_TOPOLOGY for an infinite weight, which JSON cannot hold, naming the edge
 */
export function* graphologyJsonText(topology: ProcessTopology): Generator<string> {
  const { ranks, outStart, outRank, outWeight, inStart, inWeight } = topology
  yield '{"options":{"type":"directed","multi":true,"allowSelfLoops":true},"attributes":{},\n"nodes":['
  for (let rank = 0; rank < ranks; rank++) yield `${rank === 0 ? '' : ','}\n{"key":"${rank}"}`
  yield '],\n"edges":['
  const arrival = pairEdges(topology)
  for (let p = 0; p < ranks; p++)
    for (let e = outStart[p]; e < outStart[p + 1]; e++) {
      const q = outRank[e]
      let attributes = `"outSlot":${e - outStart[p]},"inSlot":${arrival[e] - inStart[q]}`
      if (outWeight !== null && inWeight !== null) {
        const received = inWeight[arrival[e]]
        if (!Number.isFinite(outWeight[e]) || !Number.isFinite(received)) {
          const message = `edge from ${p} to ${q}: expected a finite weight, which JSON can hold, got ${outWeight[e]} and ${received}`
          throw new RankweaveError('ERR_TOPOLOGY', message, { details: { source: p, destination: q } })
        }
        attributes += `,"weight":${formatDouble(outWeight[e])}`
        if (!Object.is(received, outWeight[e])) attributes += `,"inWeight":${formatDouble(received)}`
      }
      yield `${e === 0 ? '' : ','}\n{"source":"${p}","target":"${q}","attributes":{${attributes}}}`
    }
  yield ']}\n'
}

/** An edge of a graphology graph: `outSlot` and `inSlot` are its places in the lists of its ends, or null. */
export interface GraphEdge {
  readonly source: number
  readonly destination: number
  readonly weight: number | null
  readonly inWeight: number | null
  readonly outSlot: number | null
  readonly inSlot: number | null
}

type Attributes = Readonly<Record<string, unknown>>

export function weightsOf(edge: string, attributes: Attributes, name: string | null) {
  const value = name === null ? undefined : attributes[name]
  if (value === undefined || value === null) return { weight: null, inWeight: null }
  if (typeof value !== 'number' || Number.isNaN(value)) {
    const message = `attribute '${name}' of edge '${edge}': expected a number, got ${shown(value)}`
    throw new RankweaveError('ERR_TOPOLOGY', message)
  }
  const { inWeight } = attributes
  return { weight: value, inWeight: typeof inWeight === 'number' ? inWeight : value }
}

export function slotsOf({ outSlot, inSlot }: Attributes) {
  return {
    outSlot: typeof outSlot === 'number' ? outSlot : null,
    inSlot: typeof inSlot === 'number' ? inSlot : null,
  }
}

/**
 * Builds a topology from the edges of a graph: weighted if all edges are, lists ordered by slots if all edges have
 * them.
 *
 * @throws ERR_TOPOLOGY when some edges have the weight attribute and others do not
 */
export function topologyFromGraphEdges(
  ranks: number,
  edges: readonly GraphEdge[],
  weightName: string | null,
): ProcessTopology {
  const weighted = edges.filter((edge) => edge.weight !== null).length
  if (weighted !== 0 && weighted !== edges.length) {
    const message = `expected the attribute '${weightName}' on every edge or on none, got it on ${weighted} of ${edges.length}`
    throw new RankweaveError('ERR_TOPOLOGY', message)
  }
  return edges.length > 0 && edges.every((edge) => edge.outSlot !== null && edge.inSlot !== null)
    ? fromSlots(ranks, edges, weighted > 0)
    : topologyFromEdges(ranks, {
        sources: edges.map((edge) => edge.source),
        destinations: edges.map((edge) => edge.destination),
        weights: weighted > 0 ? edges.map((edge) => edge.weight!) : null,
      })
}

/** Builds both sides ordered by slot; slots have gaps where edges were deleted from the graph. */
function fromSlots(ranks: number, edges: readonly GraphEdge[], weighted: boolean): ProcessTopology {
  const out = edges.toSorted((a, b) => a.source - b.source || a.outSlot! - b.outSlot!)
  const into = edges.toSorted((a, b) => a.destination - b.destination || a.inSlot! - b.inSlot!)
  return topologyFromLists({
    ranks,
    outStart: rowStarts(
      ranks,
      out.map((edge) => edge.source),
    ),
    outRank: out.map((edge) => edge.destination),
    outWeight: weighted ? out.map((edge) => edge.weight!) : null,
    inStart: rowStarts(
      ranks,
      into.map((edge) => edge.destination),
    ),
    inRank: into.map((edge) => edge.source),
    inWeight: weighted ? into.map((edge) => edge.inWeight!) : null,
  })
}
