import type { Algorithm, Shape } from '../../collective/patterns/algorithm.js'
import { countOperations, OperationCounter } from '../../collective/patterns/schedule-size.js'
import { specificationOf } from '../../collective/patterns/specification-of.js'
import type { Machine } from '../../machine/machine.js'
import { type Network, networkOf, profileOf } from '../../machine/network.js'
import { levels, type Profile } from '../../machine/profile.js'
import { opKind } from '../../schedule/ir.js'
import { type BytesOf, cutLength, unitCut } from '../simulate/block-lengths.js'
import { levelBetween, networkLevel, type ProcessPlaces, placesOf } from '../simulate/costs.js'
import { cutShape } from './settings.js'

/** The number of ranks observed in each of three places. At most three times as many are all observed. */
const runRanks = 64

/** The simulator and a bound add in different orders, so their sums round differently. */
const rounding = 1 - 1e-9

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

  /** @param slotOf core of every rank; null if rank r is on core r */
  constructor(machine: Machine, shape: Shape, bytes: number, slotOf: Int32Array | null = null) {
    this.#shape = shape
    this.#bytes = bytes
    const places = placesOfRanks(placesOf(machine, shape.ranks), slotOf)
    this.#ranks = observed(shape, places)
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
    return (rounding * times.leastNs()) / 1000
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
function observed({ ranks, root = 0 }: Shape, { node }: ProcessPlaces): number[] {
  if (ranks <= 3 * runRanks) return [...Array(ranks).keys()]
  const chosen = new Set<number>()
  for (const middle of [root, ranks >> 1, ranks - 1]) {
    let first = Math.max(0, Math.min(middle - runRanks / 2, ranks - runRanks))
    let end = first + runRanks
    while (first > 0 && node[first - 1] === node[first] && end - first < 2 * runRanks) first--
    while (end < ranks && node[end] === node[end - 1] && end - first < 3 * runRanks) end++
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
