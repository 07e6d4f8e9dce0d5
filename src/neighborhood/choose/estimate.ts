import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import type { Profile } from '../../machine/profile.js'
import type { NeighborSets } from '../../topology/neighbors.js'
import type { Route } from '../strategies/strategy-kind.js'

/** Messages and blocks of a rank in one hop of a route. */
interface RankLoad {
  /** The messages to ranks on its own node, and to others. */
  readonly messages: readonly [node: number, network: number]
  readonly blocks: readonly [node: number, network: number]
}

/** The load of a rank in one hop of a route, the mean over all ranks, estimated from some sources. */
export interface HopLoad extends RankLoad {
  /**
   * The load of the rank that is kept busiest by the blocks for a rank with far more sources than others; absent
   * without such a rank.
   */
  readonly busiest?: RankLoad & {
    /** The blocks of these that come to one node from others. */
    readonly toNode: number
  }
}

/** The routes of at most so many sources are followed; of half as many above 2,048 ranks, where each is more work. */
const mostSampledSources = 64

/**
 * Estimates the messages and blocks of a route from the ways of at most {@link mostSampledSources} sources, which are
 * spread over the ranks. Blocks are exact if all sources are followed. Messages of one hop that lead equally far ahead
 * are assumed to be of different ranks, one each if there are no more than ranks.
 *
 * Time: the destinations of the sampled sources times hops. Deterministic.
 *
 * @param mostPeers per hop, the most messages that a rank sends; absent if it is unknown
 * @param isMerged whether one block of a source serves all its destinations; otherwise each has its own
 */
export function routeLoad(
  route: Route,
  destinations: NeighborSets,
  nodeOf: Int32Array,
  mostPeers: readonly number[] | null,
  isMerged = true,
): HopLoad[] {
  const ranks = destinations.start.length - 1
  const most = ranks > 2048 ? mostSampledSources / 2 : mostSampledSources
  const stride = Math.max(1, Math.floor(ranks / most))
  const followed = new Followed(route, ranks)
  let samples = 0
  for (let i = 0; i * stride + (i % stride) < ranks; i++) {
    const source = i * stride + (i % stride)
    if (isMerged) followed.add(source, destinations, nodeOf)
    else followed.addApart(source, destinations, nodeOf)
    samples++
  }
  return followed.byDistance.map((distances, h) => {
    const messages: [number, number] = [0, 0]
    const blocks: [number, number] = [0, 0]
    for (const [key, count] of distances) {
      const level = key % 2
      const perRank = count / samples
      blocks[level] += perRank
      messages[level] += Math.min(1, perRank)
    }
    const all = messages[0] + messages[1]
    const most = mostPeers?.[h] ?? Number.POSITIVE_INFINITY
    const scale = all > most ? most / all : 1
    return { messages: [messages[0] * scale, messages[1] * scale], blocks }
  })
}

/** Counts moves of blocks by hop, by how far ahead they lead, and by whether they leave a node. */
class Followed {
  /** The blocks of every hop by twice the distance ahead, plus one between nodes. */
  readonly byDistance: Map<number, number>[]
  readonly #route: Route
  readonly #ranks: number
  /**
   * For the followed source, the hop in which a rank gets its block. It is valid if `#seenBy` names the source;
   * `#parent` has the sender.
   */
  readonly #arrival: Int32Array
  readonly #parent: Int32Array
  readonly #seenBy: Int32Array
  readonly #neededBy: Int32Array

  constructor(route: Route, ranks: number) {
    this.byDistance = Array.from({ length: route.hops }, () => new Map())
    this.#route = route
    this.#ranks = ranks
    this.#arrival = new Int32Array(ranks)
    this.#parent = new Int32Array(ranks)
    this.#seenBy = new Int32Array(ranks).fill(-1)
    this.#neededBy = new Int32Array(ranks).fill(-1)
  }

  add(source: number, { start, rank }: NeighborSets, nodeOf: Int32Array): void {
    const [first, end] = [start[source], start[source + 1]]
    const at = new Int32Array(end - first).fill(source)
    this.#seenBy[source] = source
    this.#neededBy[source] = source
    for (let h = 0; h < this.#route.hops; h++) {
      for (let d = first; d < end; d++) {
        const next = this.#route.hop(h, source, rank[d])
        if (this.#seenBy[next] !== source) {
          this.#seenBy[next] = source
          this.#arrival[next] = h
          this.#parent[next] = at[d - first]
        }
        at[d - first] = next
      }
    }
    for (let d = first; d < end; d++) {
      for (let to = rank[d]; this.#neededBy[to] !== source; to = this.#parent[to]) {
        this.#neededBy[to] = source
        this.#count(this.#arrival[to], this.#parent[to], to, nodeOf)
      }
    }
  }

  /** Adds the blocks of a source that has one for every destination. */
  addApart(source: number, { start, rank }: NeighborSets, nodeOf: Int32Array): void {
    for (let d = start[source]; d < start[source + 1]; d++) {
      let at = source
      for (let h = 0; h < this.#route.hops; h++) {
        const next = this.#route.hop(h, source, rank[d])
        if (next !== at) this.#count(h, at, next, nodeOf)
        at = next
      }
    }
  }

  #count(hop: number, from: number, to: number, nodeOf: Int32Array): void {
    const ahead = (to - from + this.#ranks) % this.#ranks
    const distances = this.byDistance[hop]
    const key = 2 * ahead + (nodeOf[from] === nodeOf[to] ? 0 : 1)
    distances.set(key, (distances.get(key) ?? 0) + 1)
  }
}

/** A rank whose blocks from its sources delay all others, and these sources. */
interface Hub {
  readonly rank: number
  readonly sources: Int32Array
}

/** A rank is a hub if it has so many times the mean number of sources. */
const hubFactor = 4

/** Returns the rank with most sources, if they are far more than those of others. @param sources distinct */
export function hubOf({ start, rank }: NeighborSets): Hub | null {
  const ranks = start.length - 1
  let hub = 0
  const degree = (r: number): number => start[r + 1] - start[r]
  for (let r = 1; r < ranks; r++) if (degree(r) > degree(hub)) hub = r
  if (ranks === 0 || degree(hub) * ranks <= hubFactor * rank.length) return null
  return { rank: hub, sources: rank.subarray(start[hub], start[hub + 1]) }
}

/**
 * Follows the blocks for a hub. Returns hop by hop the load of the rank that they keep busiest. Time: its sources
 * times hops.
 */
export function hubLoad(
  route: Route,
  { rank: hub, sources }: Hub,
  nodeOf: Int32Array,
): NonNullable<HopLoad['busiest']>[] {
  const ranks = nodeOf.length
  const at = sources.slice()
  return Array.from({ length: route.hops }, (_, h) => {
    const received = new Map<number, { messages: [number, number]; blocks: [number, number] }>()
    const perNode = new Map<number, number>()
    const known = new Set<number>()
    for (let i = 0; i < sources.length; i++) {
      const from = at[i]
      const to = route.hop(h, sources[i], hub)
      if (from === to) continue
      at[i] = to
      const node = nodeOf[to]
      const level = nodeOf[from] === node ? 0 : 1
      let load = received.get(to)
      if (load === undefined) {
        load = { messages: [0, 0], blocks: [0, 0] }
        received.set(to, load)
      }
      load.blocks[level]++
      if (!known.has(from * ranks + to)) load.messages[level]++
      known.add(from * ranks + to)
      if (level === 1) perNode.set(node, (perNode.get(node) ?? 0) + 1)
    }
    let busiest = { messages: [0, 0] as [number, number], blocks: [0, 0] as [number, number] }
    const all = ([near, far]: readonly [number, number]): number => near + far
    for (const load of received.values()) if (all(load.messages) > all(busiest.messages)) busiest = load
    let toNode = 0
    for (const blocks of perNode.values()) toNode = Math.max(toNode, blocks)
    return { ...busiest, toNode }
  })
}

/**
 * Estimates the microseconds of a route on a machine as if all ranks had the mean load and waited for each other
 * between hops. A hop takes one latency after the longer of two times: that of processors (overheads at both ends,
 * packing and unpacking), and that of a node's network interface. If a rank has far more sources than others, all wait
 * for the rank that their blocks for it keep busiest, if that takes longer. The estimate ranks candidates and is not a
 * bound.
 *
 * @throws ERR_MACHINE for a machine without a profile
 */
export function estimateUs(load: readonly HopLoad[], machine: Machine, ranks: number, bytes: number): number {
  const profile = profileOf(machine)
  const interior = machine.kind === 'cluster' ? 0 : 2 * profile.hop.latencyNs
  const perNode = ranks / Math.max(1, nodesUsed(machine, ranks))
  const latency = ([, far]: RankLoad['messages']): number =>
    far > 0 ? profile.levels.network.latencyNs + interior : profile.levels.node.latencyNs
  let ns = 0
  for (const mean of load) {
    const { messages, blocks, busiest } = mean
    const isIdle = messages[0] + messages[1] === 0
    const toNode = machine.cores.length > 1 ? perNode * blocks[1] : 0
    const meanNs = isIdle ? 0 : busyNs(mean, toNode, profile, bytes) + latency(messages)
    const most =
      busiest === undefined || busiest.messages[0] + busiest.messages[1] === 0
        ? 0
        : busyNs(busiest, busiest.toNode, profile, bytes) + latency(busiest.messages)
    ns += Math.max(meanNs, most)
  }
  return ns / 1000
}

/** @param toNode blocks that the network interface of the rank's node carries */
function busyNs({ messages, blocks }: RankLoad, toNode: number, profile: Profile, bytes: number): number {
  const { levels, memory } = profile
  const { node: inside, network } = levels
  const [near, far] = messages
  const all = blocks[0] + blocks[1]
  const processor =
    near * Math.max(inside.sendOverheadNs + inside.receiveOverheadNs, inside.gapNs) +
    far * Math.max(network.sendOverheadNs + network.receiveOverheadNs, network.gapNs)
  // A message of one block is neither packed nor unpacked.
  const packed = all > near + far * 1.001 ? 2 * all * (memory.copyBlockNs + bytes * memory.copyNsPerByte) : 0
  const interfaceNs = toNode * bytes * network.nsPerByte
  return Math.max(processor + packed, interfaceNs, blocks[0] * bytes * inside.nsPerByte)
}

function nodesUsed({ firstRank, cores }: Machine, ranks: number): number {
  let nodes = 0
  for (let node = 0; node < cores.length && firstRank[node] < ranks; node++) if (cores[node] > 0) nodes++
  return nodes
}
