import { allgatherBytes, type Exchange } from '../../calls/exchange/exchange.js'
import type { CommState } from '../../comm/comm-state.js'
import type { EdgeArrays, NeighborLists } from '../../topology/topology-builders.js'

/** The neighbors of one rank. Weights are given on both sides or on neither. */
export interface AdjacentEdges {
  readonly sources: ArrayLike<number>
  readonly destinations: ArrayLike<number>
  readonly sourceWeights?: ArrayLike<number>
  readonly destinationWeights?: ArrayLike<number>
}

/**
 * Edges of any ranks, as one rank passes them: the first `degrees[0]` destinations are those of `sources[0]`,
 * and so on.
 */
export interface DistributedEdges {
  readonly sources: ArrayLike<number>
  readonly degrees: ArrayLike<number>
  readonly destinations: ArrayLike<number>
  /** The weight of each destination. */
  readonly weights?: ArrayLike<number>
}

// Steps of the exchange: an allgather takes up to 32.
const wordStep = 0
const weightStep = 100

/** Gathers the lists of all ranks on every process. */
export async function gatherAdjacent(
  state: CommState,
  exchange: Exchange,
  hosted: readonly AdjacentEdges[],
  isWeighted: boolean,
): Promise<NeighborLists> {
  let edgesHere = 0
  for (const { sources, destinations } of hosted) edgesHere += sources.length + destinations.length
  const words = new Int32Array(2 * hosted.length + edgesHere)
  const weights = new Float64Array(isWeighted ? edgesHere : 0)
  let word = 0
  let weight = 0
  for (const { sources, destinations, sourceWeights, destinationWeights } of hosted) {
    words[word++] = sources.length
    words[word++] = destinations.length
    word = append(words, word, sources)
    word = append(words, word, destinations)
    if (!isWeighted) continue
    weight = append(weights, weight, sourceWeights!)
    weight = append(weights, weight, destinationWeights!)
  }
  const lists = await gatherWords(exchange, words)
  const weightLists = isWeighted ? await gatherDoubles(exchange, weights) : null

  const ranks = state.size
  const inStart = new Int32Array(ranks + 1)
  const outStart = new Int32Array(ranks + 1)
  forEachRank(state, lists, (rank, list, at) => {
    inStart[rank + 1] = inStart[rank] + list[at]
    outStart[rank + 1] = outStart[rank] + list[at + 1]
    return 2 + list[at] + list[at + 1]
  })
  const inRank = new Int32Array(inStart[ranks])
  const outRank = new Int32Array(outStart[ranks])
  forEachRank(state, lists, (rank, list, at) => {
    const outAt = at + 2 + list[at]
    inRank.set(list.subarray(at + 2, outAt), inStart[rank])
    outRank.set(list.subarray(outAt, outAt + list[at + 1]), outStart[rank])
    return 2 + list[at] + list[at + 1]
  })
  if (weightLists === null) return { ranks, inStart, inRank, outStart, outRank }

  const inWeight = new Float64Array(inRank.length)
  const outWeight = new Float64Array(outRank.length)
  forEachRank(state, weightLists, (rank, list, at) => {
    const outAt = at + inStart[rank + 1] - inStart[rank]
    const end = outAt + outStart[rank + 1] - outStart[rank]
    inWeight.set(list.subarray(at, outAt), inStart[rank])
    outWeight.set(list.subarray(outAt, end), outStart[rank])
    return end - at
  })
  return { ranks, inStart, inRank, inWeight, outStart, outRank, outWeight }
}

/** Gathers the edges that all ranks pass, by rank: the same list on every process. */
export async function gatherEdges(
  state: CommState,
  exchange: Exchange,
  hosted: readonly DistributedEdges[],
  isWeighted: boolean,
): Promise<EdgeArrays> {
  let edgesHere = 0
  for (const { destinations } of hosted) edgesHere += destinations.length
  const words = new Int32Array(hosted.length + 2 * edgesHere)
  const weightsHere = new Float64Array(isWeighted ? edgesHere : 0)
  let word = 0
  let weight = 0
  for (const { sources, degrees, destinations, weights } of hosted) {
    words[word++] = destinations.length
    for (let i = 0, e = 0; i < sources.length; i++) {
      for (const end = e + degrees[i]; e < end; e++) {
        words[word++] = sources[i]
        words[word++] = destinations[e]
      }
    }
    if (isWeighted) weight = append(weightsHere, weight, weights!)
  }
  const lists = await gatherWords(exchange, words)
  const weightLists = isWeighted ? await gatherDoubles(exchange, weightsHere) : null

  let edges = 0
  const edgesOf = new Int32Array(state.size)
  forEachRank(state, lists, (rank, list, at) => {
    edgesOf[rank] = list[at]
    edges += list[at]
    return 1 + 2 * list[at]
  })
  const sources = new Int32Array(edges)
  const destinations = new Int32Array(edges)
  let next = 0
  forEachRank(state, lists, (_, list, at) => {
    const end = at + 1 + 2 * list[at]
    for (let i = at + 1; i < end; i += 2) {
      sources[next] = list[i]
      destinations[next++] = list[i + 1]
    }
    return end - at
  })
  if (weightLists === null) return { sources, destinations }

  const weights = new Float64Array(edges)
  next = 0
  forEachRank(state, weightLists, (rank, list, at) => {
    weights.set(list.subarray(at, at + edgesOf[rank]), next)
    next += edgesOf[rank]
    return edgesOf[rank]
  })
  return { sources, destinations, weights }
}

/**
 * Visits the entries of all ranks, ascending. Every process has packed those of its ranks ascending.
 *
 * @param visit takes the start of a rank's entry in its process's list, and returns its length
 */
function forEachRank<L>(
  { processes: { runStart, runProcess, count } }: CommState,
  lists: readonly L[],
  visit: (rank: number, list: L, at: number) => number,
): void {
  const next = new Int32Array(count)
  for (let run = 0; run < runProcess.length; run++) {
    const process = runProcess[run]
    for (let rank = runStart[run]; rank < runStart[run + 1]; rank++) {
      next[process] += visit(rank, lists[process], next[process])
    }
  }
}

async function gatherWords(exchange: Exchange, words: Int32Array): Promise<Int32Array[]> {
  const blocks = await allgatherBytes(exchange, new Uint8Array(words.buffer), wordStep)
  return blocks.map(
    ({ buffer, byteOffset, byteLength }) => new Int32Array(buffer, byteOffset, byteLength / 4),
  )
}

async function gatherDoubles(exchange: Exchange, values: Float64Array): Promise<Float64Array[]> {
  const blocks = await allgatherBytes(exchange, new Uint8Array(values.buffer), weightStep)
  return blocks.map(
    ({ buffer, byteOffset, byteLength }) => new Float64Array(buffer, byteOffset, byteLength / 8),
  )
}

/** @returns the place of the next values */
function append(target: Int32Array | Float64Array, at: number, values: ArrayLike<number>): number {
  for (let i = 0; i < values.length; i++) target[at + i] = values[i]
  return at + values.length
}
