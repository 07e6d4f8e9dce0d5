import { bytesOf, wordsOf } from '../../base/bytes.js'
import { getOrAdd } from '../../base/maps.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import type { PartGraph } from '../../topology/mapping/clusters.js'
import type { OwnLists } from './own-lists.js'

/**
 * The processes that host the ends of this process's edges. Both ends of an edge know it, so all messages are expected.
 */
export interface EdgePeers {
  /** For every other process that hosts sources of ranks here, the local indices of those ranks, ascending. */
  readonly told: ReadonlyMap<number, readonly number[]>
  /** For every other process that hosts destinations of ranks here, their places in the graph, ascending. */
  readonly heard: ReadonlyMap<number, readonly number[]>
}

/** @param processOf returns the process of a rank that the lists name */
export function edgePeers(
  me: number,
  { hosted }: OwnLists,
  { named }: PartGraph,
  processOf: (rank: number) => number,
): EdgePeers {
  const told = new Map<number, number[]>()
  for (const [i, { sources }] of hosted.entries()) {
    const peers = new Set(Array.from(sources, processOf))
    peers.delete(me)
    for (const peer of peers) getOrAdd(told, peer, () => []).push(i)
  }
  const heard = new Map<number, number[]>()
  for (const [place, rank] of named.entries()) {
    const peer = processOf(rank)
    if (peer !== me) getOrAdd(heard, peer, () => []).push(place)
  }
  return { told, heard }
}

/**
 * Returns a word for every place of the graph. Each process sends those of its own ranks, 4 bytes each, in one message
 * to each process that hosts sources of these.
 *
 * @param words by local index
 */
export async function destinationWords(
  exchange: Exchange,
  { told, heard }: EdgePeers,
  { named, own }: PartGraph,
  words: Int32Array,
  step: number,
): Promise<Int32Array> {
  for (const [peer, ranks] of told)
    exchange.send(peer, step, bytesOf(Int32Array.from(ranks, (i) => words[i])))
  const all = new Int32Array(named.length)
  for (const [i, place] of own.entries()) all[place] = words[i]
  for (const [peer, places] of heard) {
    const theirs = wordsOf(await exchange.receive(peer, step))
    for (const [i, place] of places.entries()) all[place] = theirs[i]
  }
  return all
}
