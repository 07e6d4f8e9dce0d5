import { GrowingInt32Array } from '../../base/growing-array.js'
import type { LineEnds, TextReader } from '../../text/text-reader.js'
import { entriesByRow, rowStarts } from '../compressed-rows.js'
import type { ProcessTopology } from '../process-topology.js'
import { topologyFromEdges } from '../topology-builders.js'

/** The oddities of files that readers accept, in the order of reports. */
export const oddityKinds = [
  ...(['byte-order-mark', 'line-ends', 'ignored-fields', 'numbering', 'gaps', 'isolated-ranks'] as const),
  ...(['self-loops', 'duplicate-edges', 'one-way-edges'] as const),
] as const

export type OddityKind = (typeof oddityKinds)[number]

export interface OddPlace {
  /** The line, from 1; null for what no line says. */
  readonly line: number | null
  readonly text: string
}

export interface Oddity {
  readonly kind: OddityKind
  readonly count: number
  /** The first of them, at most {@link mostPlaces}. */
  readonly places: readonly OddPlace[]
}

/** The most places of each kind that are listed. */
export const mostPlaces = 20

/** Edges are odd in one direction if at least this share of the connected pairs has both. */
const mostlyBoth = 0.9

/** The traits by which edges of a format are examined. */
interface EdgeTraits {
  /** Returns the words for an edge in a message. */
  readonly name: (source: number, destination: number) => string
  /** Whether an edge from a rank to itself is odd. */
  readonly hasOddLoops: boolean
  /** Whether an edge without a reverse may be odd. */
  readonly hasDirections: boolean
}

const plainEdges: EdgeTraits = {
  name: (source, destination) => `edge from ${source} to ${destination}`,
  hasOddLoops: true,
  hasDirections: true,
}

/**
 * The notes of a reader: how it read a topology's file, and what is odd there although it was accepted. It retains 12
 * bytes an edge.
 */
export class FileNotes {
  isCompressed = false
  /** The character that separates fields, of files that have one. */
  delimiter: string | null = null
  /** The line that names columns. */
  headerLine: number | null = null
  /** The data that the reader leaves out of the topology by design, such as the values of a matrix. */
  leftOut: string | null = null
  /** Whether ranks are numbers of the file, from 0, of which edges name some. */
  hasNumbers = false
  edgeTraits = plainEdges
  /** Returns the line of a place that was passed to {@link edge}. */
  lineOf = (place: number): number => place
  #lineEnds: LineEnds | null = null
  readonly #found = new Map<OddityKind, { count: number; places: OddPlace[] }>()
  readonly #sources = new GrowingInt32Array()
  readonly #destinations = new GrowingInt32Array()
  readonly #places = new GrowingInt32Array()
  /** Ranks that a line names without an edge. */
  readonly #named = new GrowingInt32Array()

  get lineEnds(): LineEnds | null {
    return this.#lineEnds
  }

  /** Takes the form of a text from its reader, which has read it. */
  textForm({ lineEnds, hasByteOrderMark }: Pick<TextReader, 'lineEnds' | 'hasByteOrderMark'>): void {
    this.#lineEnds = lineEnds
    if (hasByteOrderMark) this.odd('byte-order-mark', 1, 'the text begins with a byte-order mark')
    if (lineEnds === 'CR') this.odd('line-ends', 1, 'lines end with carriage returns alone')
    if (lineEnds === 'CR LF') this.odd('line-ends', 1, 'lines end with carriage return and line feed')
  }

  /** Takes an oddity; its line, from 1, and text are only computed where it is listed. */
  odd(kind: OddityKind, line: number | null | (() => number), text: string | (() => string)): void {
    const found = this.#found.get(kind) ?? { count: 0, places: [] }
    this.#found.set(kind, found)
    if (++found.count > mostPlaces) return
    found.places.push({
      line: typeof line === 'function' ? line() : line,
      text: typeof text === 'function' ? text() : text,
    })
  }

  /** Takes an edge that the reader has accepted; its place is a line unless {@link lineOf} says otherwise. */
  edge(place: number, source: number, destination: number): void {
    this.#places.push(place)
    this.#sources.push(source)
    this.#destinations.push(destination)
  }

  /** Takes a rank that a line names without an edge. */
  name(rank: number): void {
    this.#named.push(rank)
  }

  /** Returns what is odd, once the file has been read. */
  oddities(topology: ProcessTopology): readonly Oddity[] {
    const skipped = this.hasNumbers ? this.#findGaps() : new Uint8Array(0)
    this.#findIsolated(topology, skipped)
    this.#findOddEdges()
    return oddityKinds.flatMap((kind) => {
      const found = this.#found.get(kind)
      return found === undefined ? [] : [{ kind, ...found }]
    })
  }

  /** Finds numbers below the largest that no line names; returns a mark for each. */
  #findGaps(): Uint8Array {
    const ends = [this.#sources.view(), this.#destinations.view(), this.#named.view()]
    let largest = -1
    for (const ranks of ends) for (const rank of ranks) if (rank > largest) largest = rank
    const isSkipped = new Uint8Array(largest + 1).fill(1)
    for (const ranks of ends) for (const rank of ranks) isSkipped[rank] = 0
    const countsFromOne = isSkipped[0] === 1 && isSkipped[1] === 0
    if (countsFromOne) {
      const first = this.#sources.view().findIndex((p, e) => p === 1 || this.#destinations.get(e) === 1)
      const text = 'no line names rank 0, as if ranks counted from 1; they count from 0'
      this.odd('numbering', first < 0 ? null : this.lineOf(this.#places.get(first)), text)
    }
    for (const range of runsOf(
      isSkipped.length,
      (rank) => isSkipped[rank] === 1 && !(countsFromOne && rank === 0),
    ))
      this.odd('gaps', null, `no line names ${range}`)
    return isSkipped
  }

  #findIsolated({ ranks, outStart, inStart }: ProcessTopology, isSkipped: Uint8Array): void {
    const isIsolated = (p: number) =>
      outStart[p] === outStart[p + 1] && inStart[p] === inStart[p + 1] && isSkipped[p] !== 1
    for (const range of runsOf(ranks, isIsolated)) this.odd('isolated-ranks', null, `${range} without edges`)
  }

  #findOddEdges(): void {
    const sources = this.#sources.view()
    const destinations = this.#destinations.view()
    const { name, hasOddLoops, hasDirections } = this.edgeTraits
    const lineOfEdge = (e: number) => () => this.lineOf(this.#places.get(e))
    const words = (e: number) => name(sources[e], destinations[e])
    if (hasOddLoops)
      for (let e = 0; e < sources.length; e++)
        if (sources[e] === destinations[e]) this.odd('self-loops', lineOfEdge(e), () => words(e))
    const { firstOf, isOneWay } = examineEdges(sources, destinations)
    for (const [e, first] of firstOf.entries()) {
      const text = () => `${words(e)} again, first in line ${lineOfEdge(first)()}`
      if (first >= 0) this.odd('duplicate-edges', lineOfEdge(e), text)
    }
    if (!hasDirections) return
    for (const [e, is] of isOneWay.entries())
      if (is === 1) this.odd('one-way-edges', lineOfEdge(e), () => `${words(e)}, none back`)
  }
}

/** Returns the runs of ranks with a property: `rank 3`, `ranks 5 to 9`. */
function* runsOf(ranks: number, has: (rank: number) => boolean): Generator<string> {
  for (let first = 0; first < ranks; first++) {
    if (!has(first)) continue
    let last = first
    while (last + 1 < ranks && has(last + 1)) last++
    yield first === last ? `rank ${first}` : `ranks ${first} to ${last}`
    first = last
  }
}

/**
 * Finds edges that repeat an earlier one, and those without a reverse if nearly all have one.
 *
 * @returns `firstOf[e]`: the first edge that e repeats, or -1; `isOneWay[e]`: 1 where the reverse is missing
 */
function examineEdges(
  sources: Int32Array,
  destinations: Int32Array,
): {
  readonly firstOf: Int32Array
  readonly isOneWay: Uint8Array
} {
  let ranks = 0
  for (const ends of [sources, destinations]) for (const rank of ends) ranks = Math.max(ranks, rank + 1)
  const out = rowStarts(ranks, sources)
  const outEdges = entriesByRow(out, sources)
  const into = rowStarts(ranks, destinations)
  const inEdges = entriesByRow(into, destinations)
  // The last row, by rank, that received from it, and the last row that sent to it, with the first edge of that row.
  const sendsTo = new Int32Array(ranks).fill(-1)
  const firstTo = new Int32Array(ranks).fill(-1)
  const first = new Int32Array(ranks)
  const firstOf = new Int32Array(sources.length).fill(-1)
  const isOneWay = new Uint8Array(sources.length)
  let oneWayPairs = 0
  let pairs = 0
  for (let p = 0; p < ranks; p++) {
    for (let i = into[p]; i < into[p + 1]; i++) sendsTo[sources[inEdges[i]]] = p
    for (let i = out[p]; i < out[p + 1]; i++) {
      const e = outEdges[i]
      const q = destinations[e]
      if (firstTo[q] === p) {
        firstOf[e] = first[q]
        continue
      }
      firstTo[q] = p
      first[q] = e
      if (q === p) continue
      if (sendsTo[q] === p) pairs += 0.5
      else {
        pairs++
        oneWayPairs++
        isOneWay[e] = 1
      }
    }
  }
  const areOdd = pairs > 0 && (pairs - oneWayPairs) / pairs >= mostlyBoth
  return { firstOf, isOneWay: areOdd ? isOneWay : new Uint8Array(0) }
}

/** A topology without what is surely wrong, and what was done to get it. */
export interface CorrectedTopology {
  readonly topology: ProcessTopology
  /** Edges that repeated another with the same weight, and were removed. */
  readonly removed: number
  /** Edges that repeat another with a different weight. They stay, because none of the weights is known to be wrong. */
  readonly differing: number
}

/** Removes edges that repeat another with its weight, and sorts the edges by source, destination and weight. */
export function withoutDuplicates({
  ranks,
  outStart,
  outRank,
  outWeight,
}: ProcessTopology): CorrectedTopology {
  const sources = new Int32Array(outRank.length)
  const destinations = new Int32Array(outRank.length)
  const weights = new Float64Array(outWeight === null ? 0 : outRank.length)
  let [kept, differing] = [0, 0]
  for (let p = 0; p < ranks; p++) {
    const row = Array.from({ length: outStart[p + 1] - outStart[p] }, (_, i) => outStart[p] + i)
    const weightOf = (e: number) => outWeight?.[e] ?? 0
    row.sort((a, b) => outRank[a] - outRank[b] || weightOf(a) - weightOf(b))
    for (const e of row) {
      const isSamePair = kept > 0 && sources[kept - 1] === p && destinations[kept - 1] === outRank[e]
      if (isSamePair && (outWeight === null || weights[kept - 1] === weightOf(e))) continue
      if (isSamePair) differing++
      sources[kept] = p
      destinations[kept] = outRank[e]
      if (outWeight !== null) weights[kept] = weightOf(e)
      kept++
    }
  }
  return {
    topology: topologyFromEdges(ranks, {
      sources: sources.subarray(0, kept),
      destinations: destinations.subarray(0, kept),
      weights: outWeight === null ? null : weights.subarray(0, kept),
    }),
    removed: outRank.length - kept,
    differing,
  }
}
