import { integerOption, type OptionTable, uncheckedOption } from '../../base/option.js'
import { checkOptions, givenOptions } from '../../base/option-table.js'
import { below, mulberry32 } from '../../base/random.js'
import { equalNumbers, inversePermutation } from '../../base/search.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { checkMachine } from '../../machine/check-machine.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { hopsBetween, profileOf } from '../../machine/network.js'
import { rowStarts } from '../../topology/compressed-rows.js'
import { strategyError } from '../../topology/friends/grouping-options.js'
import { type MapOptions, mapTopology } from '../../topology/mapping/map-topology.js'
import { mappingObjectives } from '../../topology/mapping/problem.js'
import { relabelledTopology } from '../../topology/mapping/relabel.js'
import { distinctIn, distinctOut, type NeighborSets } from '../../topology/neighbors.js'
import { type ProcessTopology, requireTopology } from '../../topology/process-topology.js'
import { checkedKind, type Strategy, strategyKind } from '../strategies/strategies.js'
import { type AutoStrategy, type ChosenOperation, checkAuto, checkedChosen, isAuto } from './auto.js'
import { friendPairs, isGrouped } from './candidates.js'
import { chooseStrategy } from './choose-strategy.js'
import { isTimedByMoves, type Setting, timedStrategy } from './simulated.js'

export interface SimulatedTimeOptions extends Pick<MapOptions, 'starts' | 'seed' | 'mostWork'> {
  /** The bytes of every block: an integer from 0 to 2^40. */
  readonly bytes: number
  /** The strategy. Default `auto`, which chooses one for each start. The option above sets its `bytes`. */
  readonly strategy?: Strategy | AutoStrategy
  /** Default `neighbor-allgather`. */
  readonly operation?: ChosenOperation
  /** The most swaps that are simulated: 0 to 2^20. Default 1,000. */
  readonly swaps?: number
}

const options: OptionTable<SimulatedTimeOptions> = {
  bytes: integerOption({ least: 0, most: longestBlockBytes, required: true }),
  strategy: uncheckedOption,
  operation: uncheckedOption,
  swaps: integerOption({ least: 0, most: 2 ** 20 }),
  // `mapTopology` checks these options.
  starts: uncheckedOption,
  seed: uncheckedOption,
  mostWork: uncheckedOption,
}

/** The mapping of a topology's vertices with the least simulated time. */
export interface SimulatedMapping {
  /** The slot of every vertex: a permutation of the ranks. */
  readonly slotOf: Int32Array
  /** The node of every vertex. */
  readonly nodeOf: Int32Array
  /** The simulated time until the last rank is done. */
  readonly timeUs: number
  /** The time with vertex v on slot v. Never less than `timeUs`. */
  readonly identityUs: number
  /** The strategy that takes `timeUs`. */
  readonly strategy: Strategy
  /** The strategy that takes `identityUs`. */
  readonly identityStrategy: Strategy
  /**
   * The start from which it was refined: `identity`, or a start and the objective of its mapping, such as `bisection by
   * pairs`.
   */
  readonly start: string
  /** The number of swaps that were simulated. */
  readonly swaps: number
}

/** The most ranks of a topology whose mapping is refined by simulated time. */
export const mostRefinedRanks = 1024
const defaultSwaps = 1000
/** The work of all swaps together, in moved blocks of some 2 us each. */
const mostSwapWork = 2 ** 22
/** The work per block of a planned schedule, compared with that of simulated moves. */
const workOfPlanned = 4

/**
 * Places the vertices of a topology on the cores of a machine so that an operation takes least simulated time. Starts
 * are vertex v on core v, and the mapping by every objective of `mapTopology`. For up to 1,024 ranks the fastest start
 * is refined by swaps of two vertices, each of which is simulated: at most `swaps` of them, which move about 2^22
 * blocks. For more ranks the fastest start is the result. Never slower than vertex v on core v. Deterministic.
 *
 * With `auto` a strategy is chosen for every start, and once more after refinement.
 *
 * @param machine with a profile, and a core for every rank
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than ranks
 * @throws ERR_STRATEGY also for `cartesian`: a mapped grid is not a grid
 * @throws ERR_TOPOLOGY, ERR_ARGUMENT
 */
export function mapBySimulatedTime(
  topology: ProcessTopology,
  machine: Machine,
  given: SimulatedTimeOptions,
): SimulatedMapping {
  requireTopology(topology)
  checkOptions('mapBySimulatedTime', options, given)
  checkMachine(machine)
  profileOf(machine)
  const { ranks } = topology
  const nodeOfSlot = nodeOf(machine, ranks)
  const { strategy: asked = { kind: 'auto' }, bytes, swaps = defaultSwaps } = given
  const operation = checkedChosen('mapBySimulatedTime', given.operation ?? 'neighbor-allgather')
  requireMappable(asked, ranks)
  const slots = { topology, machine, nodeOfSlot, operation, bytes }
  const placed = startsOf(
    slots,
    givenOptions({ starts: given.starts, seed: given.seed, mostWork: given.mostWork }),
  ).map((start) => ({ ...start, ...planned(start.slotOf, slots, asked) }))
  const [identity] = placed
  const refined = refinedFrom(placed, slots, asked, { swaps, next: mulberry32(given.seed ?? 1) })
  const best = fastest([...placed, ...refined.mappings])
  return {
    slotOf: best.slotOf,
    nodeOf: Int32Array.from(best.slotOf, (slot) => nodeOfSlot[slot]),
    timeUs: best.timeUs,
    identityUs: identity.timeUs,
    strategy: best.strategy,
    identityStrategy: identity.strategy,
    start: best.start,
    swaps: refined.swaps,
  }
}

interface PlacedOperation extends Pick<Setting, 'machine' | 'operation' | 'bytes'> {
  readonly topology: ProcessTopology
  readonly nodeOfSlot: Int32Array
}

interface Start {
  readonly start: string
  readonly slotOf: Int32Array
}

type Placed = Start & TimedSlots & { readonly strategy: Strategy }

type AskedStrategy = NonNullable<SimulatedTimeOptions['strategy']>

/** @throws ERR_STRATEGY */
function requireMappable(asked: AskedStrategy, ranks: number): void {
  if (isAuto(asked)) {
    checkAuto(asked)
    if (asked.bytes === undefined) return
    throw strategyError(`auto: expected its bytes among the options of the mapping, got bytes=${asked.bytes}`)
  }
  if (checkedKind(asked, ranks).isNumbered)
    throw strategyError(
      `${asked.kind}: expected a strategy for ranks in any order, since a mapped grid is no grid`,
    )
}

/** Lists the starts, identity first: the first of equal ones wins. */
function startsOf(
  { topology, machine, nodeOfSlot }: PlacedOperation,
  search: Pick<MapOptions, 'starts' | 'seed' | 'mostWork'>,
): readonly Start[] {
  const distance = hopsBetween(machine)
  const identity = { start: 'identity', slotOf: Int32Array.from(nodeOfSlot, (_, slot) => slot) }
  const mapped = mappingObjectives.map((objective) => {
    const { start, slotOf } = mapTopology(topology, { ...search, nodeOfSlot, objective, distance })
    return { start: `${start} by ${objective}`, slotOf }
  })
  const all = [identity, ...mapped]
  return all.filter(({ slotOf }, i) => all.findIndex((each) => equalNumbers(each.slotOf, slotOf)) === i)
}

/** Returns the requested or chosen strategy for vertices on their slots, and its time. */
function planned(slotOf: Int32Array, slots: PlacedOperation, asked: AskedStrategy) {
  const { topology, machine, operation, bytes } = slots
  const mapped = onSlots(topology, slotOf)
  const strategy = isAuto(asked)
    ? chooseStrategy(mapped, machine, { bytes, operation, ...givenOptions({ budget: asked.budget }) })
        .strategy
    : asked
  return { strategy, ...mappedTime(mapped, slots, strategy) }
}

/** Returns the topology itself, with its grid if it has one, if no vertex moves; else the relabelled one. */
function onSlots(topology: ProcessTopology, slotOf: Int32Array): ProcessTopology {
  return slotOf.every((slot, vertex) => slot === vertex) ? topology : relabelledTopology(topology, slotOf)
}

function mappedTime(topology: ProcessTopology, slots: PlacedOperation, strategy: Strategy): MappedTime {
  const { machine, nodeOfSlot, operation, bytes } = slots
  const facts = { topology, nodeOf: nodeOfSlot, progress: {} }
  const { timeUs, endUs, moved } = timedStrategy(strategy, { facts, machine, operation, bytes, now: () => 0 })
  const moves = isTimedByMoves(strategy, operation) ? moved : workOfPlanned * moved
  const friends = isGrouped(strategy)
    ? friendPairs(distinctOut(topology), strategy.mode === 'aware' ? nodeOfSlot : null)
    : 0
  return { timeUs, endUs, work: moves + friends }
}

/**
 * Refines the fastest start that allows it; with `auto` also by the strategy that is chosen then. Larger topologies are
 * not refined. A strategy of a grid cannot follow ranks that change places.
 */
function refinedFrom(
  placed: readonly Placed[],
  slots: PlacedOperation,
  asked: AskedStrategy,
  { swaps, next }: { readonly swaps: number; readonly next: () => number },
): { readonly mappings: readonly Placed[]; readonly swaps: number } {
  const { topology, nodeOfSlot } = slots
  const movable = placed.filter(({ strategy }) => !strategyKind(strategy).isNumbered)
  if (topology.ranks > mostRefinedRanks || movable.length === 0) return { mappings: [], swaps: 0 }
  const from = fastest(movable)
  const time = (slotOf: Int32Array) => mappedTime(onSlots(topology, slotOf), slots, from.strategy)
  const neighbors = [distinctOut(topology), distinctIn(topology)]
  const search = { neighbors, nodeOfSlot, swaps, work: mostSwapWork, next }
  const { best, swaps: tried } = improveByTimedSwaps(from, time, search)
  if (best === from) return { mappings: [], swaps: tried }
  const refined = { ...from, ...best }
  const mappings = isAuto(asked)
    ? [refined, { ...refined, ...planned(best.slotOf, slots, asked) }]
    : [refined]
  return { mappings, swaps: tried }
}

/** Returns the fastest; the first of equal ones. */
function fastest(placed: readonly Placed[]): Placed {
  return placed.reduce((a, b) => (b.timeUs < a.timeUs ? b : a))
}

interface MappedTime {
  /** The time until the last rank is done. */
  readonly timeUs: number
  /** The time at which the rank on each slot is done. */
  readonly endUs: Float64Array
  /** The work of the simulation, in moved blocks. */
  readonly work: number
}

interface TimedSlots extends MappedTime {
  /** The slot of every vertex. */
  readonly slotOf: Int32Array
}

/** The input of a search, and its limits. */
interface TimedSearch {
  /** The vertices with which each vertex exchanges blocks. */
  readonly neighbors: readonly NeighborSets[]
  /** The node of every slot, ascending. */
  readonly nodeOfSlot: Int32Array
  /** The most simulations. */
  readonly swaps: number
  /** The work of all simulations; the last one may exceed it. */
  readonly work: number
  readonly next: () => number
}

/** A swap in so many exchanges any two vertices. */
const anySwaps = 8
/** The weight of the mean end of ranks, besides the last end: many mappings share the last end. */
const meanWeight = 0.1
/** The unsuccessful swaps per rank after which the search restarts near the best mapping. */
const patience = 4
/** The number of swaps with which it restarts. */
const kick = 3

/**
 * Exchanges the slots of two vertices if that does not take more simulated time. Vertices that are done late, and their
 * neighbors, are tried most: they go to nodes of neighbors. After too many unsuccessful swaps it restarts near the best
 * mapping (iterated local search, Lourenco, Martin and Stuetzle 2003). Never slower than the start. Deterministic: it
 * ends by a count of simulations, or of their work.
 *
 * @param time returns the time of a permutation
 */
function improveByTimedSwaps<Start extends TimedSlots>(
  start: Start,
  time: (slotOf: Int32Array) => MappedTime,
  { neighbors, nodeOfSlot, swaps, work, next }: TimedSearch,
): { readonly best: Start | TimedSlots; readonly swaps: number } {
  const ranks = nodeOfSlot.length
  const proposed = swapProposals(neighbors, nodeOfSlot, next)
  let best: Start | TimedSlots = start
  let [current, proposal] = [best, proposed(start)]
  let [tried, spent, failed] = [0, 0, 0]
  while (ranks > 1 && tried < swaps && spent < work && best.timeUs > 0) {
    const isKicked = failed >= patience * ranks
    const slotOf = isKicked ? best.slotOf.slice() : swapped(current.slotOf, proposal())
    for (let i = 0; isKicked && i < kick; i++) exchange(slotOf, anyTwo(ranks, next))
    const found: TimedSlots = { slotOf, ...time(slotOf) }
    tried++
    spent += found.work
    const isSlower = energyOf(found) > energyOf(current)
    failed = isKicked || energyOf(found) < energyOf(current) ? 0 : failed + 1
    if (isSlower && !isKicked) continue
    current = found
    proposal = proposed(current)
    if (current.timeUs < best.timeUs) best = current
  }
  return { best, swaps: tried }
}

function energyOf({ timeUs, endUs }: MappedTime): number {
  return timeUs + (meanWeight * endUs.reduce((sum, us) => sum + us, 0)) / endUs.length
}

type Pair = readonly [v: number, w: number]

function exchange(slotOf: Int32Array, [v, w]: Pair): void {
  const slot = slotOf[v]
  slotOf[v] = slotOf[w]
  slotOf[w] = slot
}

function swapped(slotOf: Int32Array, pair: Pair): Int32Array {
  const other = slotOf.slice()
  exchange(other, pair)
  return other
}

function anyTwo(ranks: number, next: () => number): Pair {
  const v = below(next, ranks)
  return [v, (v + 1 + below(next, ranks - 1)) % ranks]
}

/** Draws two vertices of a mapping to be exchanged. */
function swapProposals(
  neighbors: readonly NeighborSets[],
  nodeOfSlot: Int32Array,
  next: () => number,
): (mapping: TimedSlots) => () => Pair {
  const ranks = nodeOfSlot.length
  const firstSlot = rowStarts((nodeOfSlot.at(-1) ?? -1) + 1, nodeOfSlot)
  /** Returns a random neighbor; the vertex itself if it has none. */
  const neighborOf = (v: number): number => {
    let at = below(next, Math.max(1, degreeOf(neighbors, v)))
    for (const { start, rank } of neighbors) {
      const own = start[v + 1] - start[v]
      if (at < own) return rank[start[v] + at]
      at -= own
    }
    return v
  }
  return ({ slotOf, endUs }) => {
    const vertexOf = inversePermutation(slotOf)
    const lateFirst = Int32Array.from(nodeOfSlot, (_, slot) => slot).sort(
      (a, b) => endUs[b] - endUs[a] || a - b,
    )
    return () => {
      if (below(next, anySwaps) === 0) return anyTwo(ranks, next)
      const share = next() / 2 ** 32
      const late = vertexOf[lateFirst[Math.floor(ranks * share * share * share)]]
      const v = below(next, 2) === 0 ? late : neighborOf(late)
      const node = nodeOfSlot[slotOf[neighborOf(v)]]
      const slot = firstSlot[node] + below(next, firstSlot[node + 1] - firstSlot[node])
      return nodeOfSlot[slotOf[v]] === node ? anyTwo(ranks, next) : [v, vertexOf[slot]]
    }
  }
}

function degreeOf(neighbors: readonly NeighborSets[], v: number): number {
  return neighbors.reduce((sum, { start }) => sum + start[v + 1] - start[v], 0)
}
