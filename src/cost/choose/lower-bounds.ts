import type { Algorithm, Shape } from '../../collective/patterns/algorithm.js'
import { countOperations, OperationCounter, specificationOf } from '../../collective/patterns/schedule-of.js'
import type { Machine } from '../../machine/machine.js'
import { type Network, networkOf, profileOf } from '../../machine/network.js'
import { levels, type Profile } from '../../machine/profile.js'
import { opKind, type Schedule } from '../../schedule/ir.js'
import { waitsAfter } from '../../schedule/walk.js'
import { type BytesOf, cutLength, lengthsOfUnits, unitCut } from '../simulate/block-lengths.js'
import { levelBetween, networkLevel, type ProcessPlaces, placesOf } from '../simulate/costs.js'
import { cutShape } from './settings.js'

/** The simulator and a bound add in different orders, so their sums round differently. */
export const boundRounding = 1 - 1e-9

/** The message from one rank to another in a phase. */
interface BoundFrame {
  readyNs: number
  bytes: number
  arrivedNs: number
}

/**
 * Lower bounds of simulated times, for schedules whose messages have the same phase at both ends. A bound is the
 * largest of these, each of which the simulator charges in full:
 *
 * - the longest chain of messages and combinations that wait for each other's data, each message alone on its links;
 * - the load of a link;
 * - the work of a processor.
 *
 * Time: in proportion to operations, entries and hops, and to ranks for each phase. Memory: 8 bytes for each place of a
 * rank.
 */
export class ScheduleBounds {
  readonly #network: Network
  readonly #profile: Profile
  readonly #places: ProcessPlaces

  /** @param places of every rank */
  constructor(machine: Machine, places: ProcessPlaces) {
    this.#network = networkOf(machine)
    this.#profile = profileOf(machine)
    this.#places = places
  }

  /** Returns a bound in microseconds. @param bytes of every unit of data */
  of(schedule: Schedule, bytes: number): number {
    const run = new BoundRun(schedule, bytes, this.#network, this.#profile, this.#places)
    return (boundRounding * run.leastNs()) / 1000
  }
}

class BoundRun {
  readonly #schedule: Schedule
  readonly #bytesOf: (term: number) => number
  readonly #network: Network
  readonly #profile: Profile
  readonly #places: ProcessPlaces
  /** The first place of every rank among the places of all ranks. */
  readonly #placeStart: Int32Array
  /** The time at which a place has its data. */
  readonly #filledNs: Float64Array
  readonly #processorNs: Float64Array
  readonly #linkNs: Float64Array
  /** The time by which a rank's messages so far are complete, by rank; empty unless operations wait for phases. */
  readonly #completeNs: { readonly phases: number[]; readonly ns: number[] }[]
  /** The messages of the current phase, by receiver, then sender. */
  readonly #frames = new Map<number, BoundFrame>()
  readonly #route: Int32Array
  /**
   * Routes by the nodes at both ends: the links, the slowest link's time for a byte, and the latency of all of them.
   */
  readonly #routes = new Map<
    number,
    { readonly links: Int32Array; readonly nsPerByte: number; readonly latencyNs: number }
  >()
  #endNs = 0

  constructor(schedule: Schedule, bytes: number, network: Network, profile: Profile, places: ProcessPlaces) {
    const { specification, staging, opAfter } = schedule
    const { ranks, ownStart, slotStart } = specification
    this.#schedule = schedule
    this.#bytesOf = lengthsOfUnits(specification, bytes)
    this.#network = network
    this.#profile = profile
    this.#places = places
    this.#placeStart = new Int32Array(ranks + 1)
    for (let rank = 0; rank < ranks; rank++) {
      const held = ownStart[rank + 1] - ownStart[rank] + slotStart[rank + 1] - slotStart[rank]
      this.#placeStart[rank + 1] = this.#placeStart[rank] + held + staging[rank]
    }
    this.#filledNs = new Float64Array(this.#placeStart[ranks])
    this.#processorNs = new Float64Array(ranks)
    this.#linkNs = new Float64Array(network.latencyNs.length)
    this.#completeNs =
      opAfter.length === 0 ? [] : Array.from({ length: ranks }, () => ({ phases: [], ns: [] }))
    this.#route = new Int32Array(network.longestRoute)
  }

  leastNs(): number {
    const { opStart, opPhase, opKind: kinds, phases, specification } = this.#schedule
    const { ranks } = specification
    const next = opStart.slice(0, ranks)
    const local = opStart.slice(0, ranks)
    for (let phase = 0; phase < phases; phase++) {
      this.#frames.clear()
      for (let rank = 0; rank < ranks; rank++) {
        let op = next[rank]
        const end = opStart[rank + 1]
        for (; op < end && opPhase[op] === phase && kinds[op] === opKind.send; op++) this.#send(rank, op)
        local[rank] = op
      }
      for (const [key, frame] of this.#frames) this.#carry(key % ranks, Math.floor(key / ranks), frame)
      for (let rank = 0; rank < ranks; rank++) {
        let op = local[rank]
        const end = opStart[rank + 1]
        for (; op < end && opPhase[op] === phase; op++) {
          if (kinds[op] === opKind.receive) this.#receive(rank, op)
          else this.#local(rank, op)
        }
        if (this.#completeNs.length > 0 && op > next[rank]) this.#complete(rank, phase, next[rank], op)
        next[rank] = op
      }
    }
    const most = (all: Float64Array): number => all.reduce((a, b) => Math.max(a, b), 0)
    return Math.max(this.#endNs, most(this.#processorNs), most(this.#linkNs))
  }

  #send(rank: number, op: number): void {
    const { entryStart, entryBlock, entryFrom, opPeer, specification } = this.#schedule
    const key = opPeer[op] * specification.ranks + rank
    let frame = this.#frames.get(key)
    if (frame === undefined) {
      frame = { readyNs: 0, bytes: 0, arrivedNs: 0 }
      this.#frames.set(key, frame)
    }
    const first = this.#placeStart[rank]
    let ready = Math.max(frame.readyNs, this.#waitNs(rank, op))
    for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
      ready = Math.max(ready, this.#filledNs[first + entryFrom[e]])
      frame.bytes += this.#bytesOf(entryBlock[e])
    }
    frame.readyNs = ready
  }

  /** Returns the time by which all messages that an operation waits for are complete. */
  #waitNs(rank: number, op: number): number {
    const after = waitsAfter(this.#schedule, op)
    if (after < 0) return 0
    const { phases, ns } = this.#completeNs[rank]
    let i = phases.length - 1
    while (i >= 0 && phases[i] > after) i--
    return i < 0 ? 0 : ns[i]
  }

  #carry(from: number, to: number, frame: BoundFrame): void {
    const { node } = this.#places
    const level = levelBetween(this.#places, from, to)
    const costs = this.#profile.levels[levels[level]]
    const wireBytes = frame.bytes + (costs.headerBytes ?? 0)
    let { latencyNs, nsPerByte } = costs
    if (level === networkLevel) {
      const route = this.#routeOf(node[from], node[to])
      ;({ latencyNs, nsPerByte } = route)
      for (const link of route.links) this.#linkNs[link] += wireBytes * this.#network.nsPerByte[link]
    }
    // A long message first asks its receiver.
    const trips = frame.bytes > this.#profile.eagerLimitBytes ? 3 : 1
    frame.arrivedNs = frame.readyNs + costs.sendOverheadNs + trips * latencyNs + wireBytes * nsPerByte
    this.#processorNs[from] += costs.sendOverheadNs
    this.#processorNs[to] += costs.receiveOverheadNs
    this.#endNs = Math.max(this.#endNs, frame.arrivedNs + costs.receiveOverheadNs)
  }

  #routeOf(from: number, to: number) {
    const { nodes, latencyNs, nsPerByte } = this.#network
    const known = this.#routes.get(from * nodes + to)
    if (known !== undefined) return known
    const links = this.#route.slice(0, this.#network.route(from, to, this.#route))
    const route = { links, nsPerByte: 0, latencyNs: 0 }
    for (const link of links) {
      route.latencyNs += latencyNs[link]
      route.nsPerByte = Math.max(route.nsPerByte, nsPerByte[link])
    }
    this.#routes.set(from * nodes + to, route)
    return route
  }

  #receive(rank: number, op: number): void {
    const { entryStart, entryTo, opPeer, specification } = this.#schedule
    const frame = this.#frames.get(rank * specification.ranks + opPeer[op])
    if (frame === undefined) return
    const costs = this.#profile.levels[levels[levelBetween(this.#places, opPeer[op], rank)]]
    const first = this.#placeStart[rank]
    const filledNs = frame.arrivedNs + costs.receiveOverheadNs
    for (let e = entryStart[op]; e < entryStart[op + 1]; e++) this.#filledNs[first + entryTo[e]] = filledNs
  }

  #local(rank: number, op: number): void {
    const { entryStart, entryBlock, entryFrom, entryRight, entryTo, opKind: kinds } = this.#schedule
    const first = this.#placeStart[rank]
    const isCombination = kinds[op] === opKind.combine
    for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
      let filledNs = this.#filledNs[first + entryFrom[e]]
      if (isCombination) {
        const durationNs = this.#bytesOf(entryBlock[e]) * this.#profile.memory.reduceNsPerByte
        filledNs = Math.max(filledNs, this.#filledNs[first + entryRight[e]]) + durationNs
        this.#processorNs[rank] += durationNs
      }
      this.#filledNs[first + entryTo[e]] = filledNs
      this.#endNs = Math.max(this.#endNs, filledNs)
    }
  }

  #complete(rank: number, phase: number, from: number, end: number): void {
    const { opKind: kinds, opPeer, specification } = this.#schedule
    const { ranks } = specification
    const { phases, ns } = this.#completeNs[rank]
    let last = ns.length === 0 ? 0 : ns[ns.length - 1]
    for (let op = from; op < end; op++) {
      if (kinds[op] > opKind.receive) continue
      const isSent = kinds[op] === opKind.send
      const frame = this.#frames.get(isSent ? opPeer[op] * ranks + rank : rank * ranks + opPeer[op])
      if (frame === undefined) continue
      const isLong = frame.bytes > this.#profile.eagerLimitBytes
      last = Math.max(last, isSent && !isLong ? frame.readyNs : frame.arrivedNs)
    }
    phases.push(phase)
    ns.push(last)
  }
}

/** The number of ranks observed in each of three places. At most three times as many are all observed. */
const defaultRun = 64

/**
 * Lower bounds of simulated times, found without a schedule. They follow from what some ranks send, receive and
 * combine. These are next to the root, in the middle and at the end, with the others of their nodes. A bound is the
 * largest of these, each of which the simulator charges in full:
 *
 * - the work of a processor: overheads at both ends and combinations;
 * - the frames that a rank sends within its node, one after the other;
 * - the load of a link by the messages that begin or end at these ranks.
 *
 * Memory: in proportion to ranks and links.
 */
export class LeastTimes {
  readonly #shape: Shape
  readonly #bytes: number
  readonly #ranks: readonly number[]
  readonly #setting: Setting

  /**
   * @param slotOf core of every rank; null if rank r is on core r
   * @param run ranks observed in each of three places
   */
  constructor(
    machine: Machine,
    shape: Shape,
    bytes: number,
    slotOf: Int32Array | null = null,
    run = defaultRun,
  ) {
    this.#shape = shape
    this.#bytes = bytes
    const places = placesOfRanks(placesOf(machine, shape.ranks), slotOf)
    this.#ranks = observed(shape, places, run)
    const isObserved = new Uint8Array(shape.ranks)
    for (const rank of this.#ranks) isObserved[rank] = 1
    this.#setting = { places, isObserved, network: networkOf(machine), profile: profileOf(machine) }
  }

  /** Returns a bound in microseconds for an algorithm that serves the shape, cut into these segments. */
  of(algorithm: Algorithm, segments: number): number {
    const shape = cutShape(this.#shape, segments)
    const specification = specificationOf(algorithm, shape, this.#ranks)
    const lengthOf = cutLength(this.#bytes, unitCut(specification))
    const isEmpty = specification.collective === 'barrier'
    const bytesOf: BytesOf = (term) => (isEmpty ? 0 : lengthOf(term < 0 ? ~term : term))
    const times = new RankTimes(shape.ranks, this.#setting, bytesOf)
    countOperations(algorithm, shape, specification, this.#ranks, times, () => times.endRank())
    return (boundRounding * times.leastNs()) / 1000
  }
}

interface Setting {
  readonly places: ProcessPlaces
  readonly isObserved: Uint8Array
  readonly network: Network
  readonly profile: Profile
}

/** Returns the places of ranks whose cores `slotOf` names. */
export function placesOfRanks(
  { node, packageIndex }: ProcessPlaces,
  slotOf: Int32Array | null,
): ProcessPlaces {
  if (slotOf === null) return { node, packageIndex }
  return {
    node: slotOf.map((slot) => node[slot]),
    packageIndex: slotOf.map((slot) => packageIndex[slot]),
  }
}

/** Returns the ranks of whole nodes around the root, the middle and the end, ascending. */
function observed({ ranks, root = 0 }: Shape, { node }: ProcessPlaces, run: number): number[] {
  if (ranks <= 3 * run) return [...Array(ranks).keys()]
  const chosen = new Set<number>()
  for (const middle of [root, ranks >> 1, ranks - 1]) {
    let first = Math.max(0, Math.min(middle - (run >> 1), ranks - run))
    let end = first + run
    while (first > 0 && node[first - 1] === node[first] && end - first < 2 * run) first--
    while (end < ranks && node[end] === node[end - 1] && end - first < 3 * run) end++
    for (let rank = first; rank < end; rank++) chosen.add(rank)
  }
  return [...chosen].sort((a, b) => a - b)
}

/** Adds up the work of ranks, one rank after the other. All that one rank sends another in a phase is one message. */
class RankTimes extends OperationCounter {
  readonly #setting: Setting
  readonly #bytesOf: BytesOf
  readonly #linkNs: Float64Array
  readonly #route: Int32Array
  readonly #met = new Set<number>()
  readonly #ranks: number
  #processorNs = 0
  #nodeNs = 0
  #mostNs = 0

  // These describe the operation opened last.
  #kind: number = opKind.copy
  #level = 0
  #links = 0

  constructor(ranks: number, setting: Setting, bytesOf: BytesOf) {
    super(ranks)
    this.#ranks = ranks
    this.#setting = setting
    this.#bytesOf = bytesOf
    this.#linkNs = new Float64Array(setting.network.latencyNs.length)
    this.#route = new Int32Array(setting.network.longestRoute)
  }

  override open(rank: number, phase: number, kind: number, peer: number, tag: number): void {
    super.open(rank, phase, kind, peer, tag)
    this.#kind = kind
    if (kind !== opKind.send && kind !== opKind.receive) return
    const { places, isObserved, network, profile } = this.#setting
    this.#level = levelBetween(places, rank, peer)
    const [from, to] = kind === opKind.send ? [rank, peer] : [peer, rank]
    const isCounted = kind === opKind.send || isObserved[peer] === 0
    const isFar = this.#level === networkLevel && isCounted
    this.#links = isFar ? network.route(places.node[from], places.node[to], this.#route) : 0
    const message = (phase * this.#ranks + peer) * 2 + kind
    if (this.#met.has(message)) return
    this.#met.add(message)
    const { sendOverheadNs, receiveOverheadNs, headerBytes = 0 } = profile.levels[levels[this.#level]]
    this.#processorNs += kind === opKind.send ? sendOverheadNs : receiveOverheadNs
    this.#carry(headerBytes)
  }

  override add(block: number, from: number, to: number, right?: number): void {
    super.add(block, from, to, right)
    if (this.#kind === opKind.copy) return
    const bytes = this.#bytesOf(block)
    if (this.#kind === opKind.combine)
      this.#processorNs += bytes * this.#setting.profile.memory.reduceNsPerByte
    else this.#carry(bytes)
  }

  endRank(): void {
    this.#mostNs = Math.max(this.#mostNs, this.#processorNs, this.#nodeNs)
    this.#processorNs = 0
    this.#nodeNs = 0
    this.#met.clear()
  }

  leastNs(): number {
    return this.#linkNs.reduce((most, ns) => Math.max(most, ns), this.#mostNs)
  }

  #carry(bytes: number): void {
    const { network, profile } = this.#setting
    if (this.#level === networkLevel) {
      for (let i = 0; i < this.#links; i++) {
        const link = this.#route[i]
        this.#linkNs[link] += bytes * network.nsPerByte[link]
      }
    } else if (this.#kind === opKind.send)
      this.#nodeNs += bytes * profile.levels[levels[this.#level]].nsPerByte
  }
}
