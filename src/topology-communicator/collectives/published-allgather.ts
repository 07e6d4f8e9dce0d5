import { wordsOf } from '../../base/bytes.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { type BoundStart, filled } from '../../calls/program/planned-call.js'
import {
  exchangePublications,
  PublishedBlocks,
  type PublishedData,
  type PublishingPeer,
  reservePublication,
} from '../../calls/program/publication.js'
import type { Signature } from '../../calls/signature.js'
import { copyWords, type Words } from '../../calls/values/block-store.js'
import type { CommState } from '../../comm/comm-state.js'
import { requireIntact } from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { countRun } from '../plan/neighbor-program.js'
import { type Neighborhood, placementOf } from '../plan/neighborhood.js'
import { largestOfAll } from './neighbor-call.js'

/** Steps of the exchange: the agreement takes up to 31. */
const locationStep = 64

/** The blocks that the ranks of a process bind. They have one length on all ranks. */
export interface BoundBlocks {
  readonly blockBytes: number
  /** The number of words of a block. */
  readonly width: number
  /** The memory of each hosted rank's block. */
  readonly sends: readonly Words[]
  readonly receives: readonly Words[]
}

/**
 * Makes a persistent neighbor allgather whose blocks stay in the memory of their process, where neighbors read them.
 * Returns null if some process has no memory left for it. Collective, of processes that {@link canPublish}.
 *
 * Memory that others read, until the communicator is freed: 64 bytes and twice the blocks of the process's ranks,
 * rounded up to 64.
 *
 * @param direct sends blocks directly
 */
export async function publishedAllgather(
  state: CommState,
  direct: Neighborhood,
  signature: Signature,
  bound: BoundBlocks,
  exchange: Exchange,
): Promise<BoundStart | null> {
  const { runtime, processIndex } = state
  const { program } = direct.operation('neighbor-allgather')
  const own = reservePublication(state, bound.blockBytes * program.ranks.length)
  if ((await largestOfAll(exchange, own === undefined ? 1 : 0, 0)) === 1) {
    if (own !== undefined) runtime.staging!.giveBack(own, state)
    return null
  }
  const placement = placementOf(state)
  const hosted = ranksByProcess(placement, exchange.count)
  const readers = [...new Set(program.send.peer)]
  const publishing = await exchangePublications(
    state,
    exchange,
    own!,
    [...new Set([...program.receive.peer, ...readers])],
    (peer) => bound.blockBytes * hosted[peer],
    locationStep,
  )
  const reading = readingBySource(program, placement, bound.width)
  const sources = reading.map(({ peer }) => publishing.get(peer)!)
  const blocks = new PublishedBlocks(
    publishing.get(processIndex)!,
    sources,
    readers.map((peer) => publishing.get(peer)!),
    dataOf(bound, publishing.get(processIndex)!, sources, reading),
    runtime.processCounters,
  )
  const counts = { ...program.counts, framesSent: 0, messagesSent: 0, blocksSent: 0 }
  return {
    signature,
    unplaced: true,
    run: (_, started) => {
      blocks.start(started, () => {
        for (const words of bound.receives) requireIntact(words)
        countRun(direct.traffic, counts)
        started.finish(filled)
      })
      return undefined
    },
  }
}

/** The blocks that the ranks of this process read from one process. */
interface Reading {
  readonly peer: number
  /** The start of each block among the blocks of the peer's ranks, in words. */
  readonly from: Int32Array
  /** The index of the hosted rank that gets each block, and the place in its buffer, in words. */
  readonly rank: Int32Array
  readonly to: Int32Array
}

function readingBySource(
  { valueTerm, fillStart, fillRank, fillSlot }: ProcessProgram,
  placement: Int32Array,
  width: number,
): Reading[] {
  const indexInProcess = new Int32Array(placement.length)
  const seen = new Map<number, number>()
  for (const [rank, process] of placement.entries()) {
    const index = seen.get(process) ?? 0
    indexInProcess[rank] = index
    seen.set(process, index + 1)
  }
  const lists = new Map<number, { from: number[]; rank: number[]; to: number[] }>()
  for (const [v, origin] of valueTerm.entries()) {
    for (let f = fillStart[v]; f < fillStart[v + 1]; f++) {
      const peer = placement[origin]
      const list = lists.get(peer) ?? { from: [], rank: [], to: [] }
      lists.set(peer, list)
      list.from.push(indexInProcess[origin] * width)
      list.rank.push(fillRank[f])
      list.to.push(fillSlot[f] * width)
    }
  }
  return Array.from(lists, ([peer, { from, rank, to }]) => ({
    peer,
    from: Int32Array.from(from),
    rank: Int32Array.from(rank),
    to: Int32Array.from(to),
  }))
}

function ranksByProcess(placement: Int32Array, processes: number): Int32Array {
  const ranks = new Int32Array(processes)
  for (const process of placement) ranks[process]++
  return ranks
}

function dataOf(
  { width, sends, receives }: BoundBlocks,
  own: PublishingPeer,
  sources: readonly PublishingPeer[],
  reading: readonly Reading[],
): PublishedData {
  const wordsIn = ({ publication }: PublishingPeer): Words[] =>
    publication.places.map((place) => (sends[0] instanceof Uint8Array ? place : wordsOf(place)))
  const ownPlaces = wordsIn(own)
  const placesOf = sources.map(wordsIn)
  return {
    write(place) {
      const words = ownPlaces[place]
      for (let i = 0; i < sends.length; i++) {
        requireIntact(sends[i])
        copyWords(sends[i], 0, words, i * width, width)
      }
    },
    read(source, place) {
      const { from, rank, to } = reading[source]
      const words = placesOf[source][place]
      for (let k = 0; k < from.length; k++) copyWords(words, from[k], receives[rank[k]], to[k], width)
    },
  }
}
