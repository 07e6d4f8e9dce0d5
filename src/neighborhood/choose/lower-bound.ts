import { boundRounding } from '../../cost/choose/lower-bounds.js'
import { levelBetween, type ProcessPlaces, placesOf } from '../../cost/simulate/costs.js'
import { profileOf } from '../../machine/network.js'
import { levels, type MessageCosts } from '../../machine/profile.js'
import { distinctIn, distinctOut, type NeighborSets } from '../../topology/neighbors.js'
import { deliveryTrees, type Moves } from '../strategies/delivery-trees.js'
import { type Strategy, strategyKind } from '../strategies/strategies.js'
import { isGrouped } from './candidates.js'
import type { Setting } from './simulated.js'

/** At most so many sources of the rank that has most are followed, spread over all of them. */
const mostFollowed = 128

/** A lower bound in microseconds. */
export type LowerBound = (strategy: Strategy) => number

/**
 * Computes a lower bound of a strategy's simulated time without a plan or a search for friends. It is the largest of
 * these times, each of which the simulator charges in full:
 *
 * - the work of a rank's processor for all its sources once the first message can have arrived;
 * - the mean work of processors at both ends of the fewest messages;
 * - the blocks that the network interface of a node has to carry;
 * - for routes of an allgather, all messages of some blocks: the longest chain, and the busiest processor.
 *
 * Time: edges once, then per route at most 128 sources times their destinations times hops.
 */
export function lowerBound(setting: Setting): LowerBound {
  const { facts, operation } = setting
  const costs = leastCosts(setting)
  const sources = distinctIn(facts.topology)
  const ofNodes = interfacesNs(setting, costs, sources)
  const out = operation === 'neighbor-allgather' ? followed(distinctOut(facts.topology), sources) : null
  return (strategy) => {
    const ofKind =
      operation === 'neighbor-allgather' ? strategyKind(strategy).mostBlocks?.(strategy) : undefined
    const mostBlocks = ofKind ?? Number.POSITIVE_INFINITY
    const ofAll = Math.max(ofNodes, processorsNs(setting, costs, sources, mostBlocks))
    const ofRoute = out === null || isGrouped(strategy) ? 0 : routeNs(strategy, setting, costs, out)
    return (boundRounding * Math.max(ofAll, ofRoute)) / 1000
  }
}

/** The least costs of a message of one block on its way, in nanoseconds. */
interface LeastCosts {
  readonly places: ProcessPlaces
  readonly messages: readonly MessageCosts[]
  /** The costs at any level between two of the ranks. */
  readonly sendNs: number
  readonly receiveNs: number
  readonly wayNs: number
  /** The cost of packing or unpacking one block of several. */
  readonly copyNs: number
}

function leastCosts({ facts, machine, bytes }: Setting): LeastCosts {
  const profile = profileOf(machine)
  const { ranks } = facts.topology
  const places = placesOf(machine, ranks)
  const messages = levels.map((level) => profile.levels[level])
  const used = new Set<number>()
  for (let rank = 1; rank < ranks; rank++) {
    // Ranks are placed node by node and package by package, so ranks in order show all levels.
    used.add(levelBetween(places, rank - 1, rank))
    used.add(levelBetween(places, 0, rank))
  }
  const least = (of: (costs: MessageCosts) => number): number =>
    [...used].reduce((lowest, level) => Math.min(lowest, of(messages[level])), Number.POSITIVE_INFINITY)
  const eager = profile.eagerLimitBytes
  return {
    places,
    messages,
    sendNs: least(({ sendOverheadNs }) => sendOverheadNs),
    receiveNs: least(({ receiveOverheadNs }) => receiveOverheadNs),
    wayNs: least((costs) => wayNs(costs, bytes, eager)),
    copyNs: profile.memory.copyBlockNs + bytes * profile.memory.copyNsPerByte,
  }
}

/**
 * Computes the time of a message without contention. A message beyond the eager limit is announced and permitted first.
 */
function wayNs(costs: MessageCosts, bytes: number, eagerLimitBytes: number): number {
  const { latencyNs, nsPerByte, headerBytes = 0 } = costs
  return (bytes > eagerLimitBytes ? 3 : 1) * latencyNs + (bytes + headerBytes) * nsPerByte
}

/** Bounds the work of one end for some blocks in messages of at most so many. A message of one block is not packed. */
function endNs(blocks: number, mostBlocks: number, overheadNs: number, copyNs: number): number {
  if (blocks === 0) return 0
  const inOne = Math.min(blocks * overheadNs, overheadNs + blocks * copyNs)
  return Math.max(overheadNs, inOne, blocks * Math.min(overheadNs, overheadNs / mostBlocks + copyNs))
}

function processorsNs(
  { facts, operation }: Setting,
  { sendNs, receiveNs, wayNs: firstNs, copyNs }: LeastCosts,
  { start }: NeighborSets,
  mostBlocks: number,
): number {
  const { ranks, inStart } = facts.topology
  let [most, sum] = [0, 0]
  for (let rank = 0; rank < ranks; rank++) {
    const sources = start[rank + 1] - start[rank]
    // Partial results may arrive combined as one block.
    const blocks = operation === 'neighbor-reduce-any' ? Math.min(1, sources) : sources
    if (blocks === 0) continue
    const copies = operation === 'neighbor-allgather' ? inStart[rank + 1] - inStart[rank] - sources : 0
    most = Math.max(most, sendNs + firstNs + endNs(blocks, mostBlocks, receiveNs, copyNs) + copies * copyNs)
    sum += endNs(blocks, mostBlocks, sendNs + receiveNs, 2 * copyNs)
  }
  return Math.max(most, sum / Math.max(1, ranks))
}

/** Bounds the time of a node's only interface for the blocks that come from other nodes. */
function interfacesNs(
  { facts, machine, operation, bytes }: Setting,
  { messages }: LeastCosts,
  { start, rank }: NeighborSets,
): number {
  const { nodeOf, topology } = facts
  if (nodeOf === null) return 0
  const network = messages[levels.indexOf('network')]
  const order = Int32Array.from({ length: topology.ranks }, (_, r) => r).sort((a, b) => nodeOf[a] - nodeOf[b])
  const seenBy = new Int32Array(topology.ranks).fill(-1)
  let [node, blocks, most] = [-1, 0, 0]
  for (const to of order) {
    if (nodeOf[to] !== node) blocks = 0
    node = nodeOf[to]
    for (let e = start[to]; e < start[to + 1]; e++) {
      const source = rank[e]
      const isNew = operation === 'neighbor-alltoall' || seenBy[source] !== node
      if (nodeOf[source] !== node && isNew) blocks++
      seenBy[source] = node
    }
    most = Math.max(most, operation === 'neighbor-reduce-any' ? Math.min(1, blocks) : blocks)
  }
  if (most === 0) return 0
  const { sendOverheadNs, receiveOverheadNs, nsPerByte } = network
  const firstNs = wayNs(network, bytes, profileOf(machine).eagerLimitBytes)
  return sendOverheadNs + firstNs + (most - 1) * bytes * nsPerByte + receiveOverheadNs
}

/** Returns the destinations of the sources of the rank that has most of them, and its own; other rows are empty. */
function followed(out: NeighborSets, { start, rank }: NeighborSets): NeighborSets {
  const ranks = out.start.length - 1
  let hub = 0
  for (let r = 1; r < ranks; r++) if (start[r + 1] - start[r] > start[hub + 1] - start[hub]) hub = r
  const sources = rank.subarray(start[hub], start[hub + 1])
  const stride = Math.max(1, Math.ceil(sources.length / mostFollowed))
  const isFollowed = new Uint8Array(ranks)
  isFollowed[hub] = 1
  for (let i = 0; i < sources.length; i += stride) isFollowed[sources[i]] = 1
  const kept = new Int32Array(ranks + 1)
  const destinations: number[] = []
  for (let r = 0; r < ranks; r++) {
    if (isFollowed[r] === 1)
      for (let e = out.start[r]; e < out.start[r + 1]; e++) destinations.push(out.rank[e])
    kept[r + 1] = destinations.length
  }
  return { start: kept, rank: Int32Array.from(destinations) }
}

/** A message, and how many of the followed blocks it has: it may have more. */
interface Message {
  readonly from: number
  readonly to: number
  readonly level: number
  blocks: number
  /** The earliest time at which the last of these blocks can be there. */
  readyNs: number
}

/**
 * Follows all messages with the followed blocks, as the simulator charges them. It computes when each can arrive at the
 * earliest, and the work of every processor once the first of its jobs can begin.
 */
function routeNs(strategy: Strategy, setting: Setting, costs: LeastCosts, out: NeighborSets): number {
  const { facts, machine, bytes } = setting
  const { ranks } = facts.topology
  const moves = deliveryTrees(strategyKind(strategy).route(strategy, facts), out, ranks)
  const { eagerLimitBytes } = profileOf(machine)
  const busyNs = new Float64Array(ranks)
  const beginNs = new Float64Array(ranks).fill(Number.POSITIVE_INFINITY)
  const work = (rank: number, fromNs: number, durationNs: number): void => {
    beginNs[rank] = Math.min(beginNs[rank], fromNs)
    busyNs[rank] += durationNs
  }
  const arrivedNs = new Float64Array(moves.block.length)
  let latest = 0
  for (const hop of byHop(moves)) {
    const messages = new Map<number, Message>()
    for (const move of hop) {
      const [from, to, before] = [moves.from[move], moves.to[move], moves.before[move]]
      const key = from * ranks + to
      const known = messages.get(key) ?? {
        from,
        to,
        level: levelBetween(costs.places, from, to),
        blocks: 0,
        readyNs: 0,
      }
      known.blocks++
      if (before !== -1) known.readyNs = Math.max(known.readyNs, arrivedNs[before])
      messages.set(key, known)
    }
    const endsNs = new Map<number, number>()
    for (const [key, { from, to, level, blocks, readyNs }] of messages) {
      const packNs = blocks > 1 ? blocks * costs.copyNs : 0
      const message = costs.messages[level]
      const sendNs = packNs + message.sendOverheadNs
      const receiveNs = packNs + message.receiveOverheadNs
      const atNs = readyNs + sendNs + wayNs(message, blocks * bytes, eagerLimitBytes)
      work(from, readyNs, sendNs)
      work(to, atNs, receiveNs)
      endsNs.set(key, atNs + receiveNs)
      latest = Math.max(latest, atNs + receiveNs)
    }
    for (const move of hop) arrivedNs[move] = endsNs.get(moves.from[move] * ranks + moves.to[move])!
  }
  for (let rank = 0; rank < ranks; rank++)
    if (busyNs[rank] > 0) latest = Math.max(latest, beginNs[rank] + busyNs[rank])
  return latest
}

/** Groups the moves by hop, in order. */
function byHop({ hop }: Moves): number[][] {
  const found: number[][] = []
  for (let move = 0; move < hop.length; move++) {
    found[hop[move]] ??= []
    found[hop[move]].push(move)
  }
  return found.filter((moves) => moves !== undefined)
}
