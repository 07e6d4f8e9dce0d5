import { GrowingFloat64Array, GrowingInt32Array } from '../../base/growing-array.js'
import type { TextReader } from '../../text/text-reader.js'
import { topologyLimits } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { topologyFromEdges } from '../topology-builders.js'

/** Edges in the order in which they are read, all with a weight or none. */
export class GrowingEdges {
  readonly #reader: TextReader
  readonly #sources = new GrowingInt32Array()
  readonly #destinations = new GrowingInt32Array()
  #weights: GrowingFloat64Array | null = null
  #largest = -1

  constructor(reader: TextReader) {
    this.#reader = reader
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
    this.name(source)
    this.name(destination)
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
