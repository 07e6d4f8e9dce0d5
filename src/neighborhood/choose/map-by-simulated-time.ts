import { integerOption, type OptionTable, uncheckedOption } from '../../base/option.js'
import { checkOptions, givenOptions } from '../../base/option-table.js'
import { mulberry32 } from '../../base/random.js'
import { equalNumbers } from '../../base/search.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { checkMachine } from '../../machine/check-machine.js'
import { hopsBetween } from '../../machine/hops.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { requireTopology } from '../../topology/check-topology.js'
import { strategyError } from '../../topology/friends/grouping-options.js'
import { type MapOptions, mapTopology } from '../../topology/mapping/map-topology.js'
import { mappingObjectives } from '../../topology/mapping/objectives.js'
import { relabelledTopology } from '../../topology/mapping/relabel.js'
import { distinctIn, distinctOut } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { checkedKind } from '../strategies/strategies.js'
import type { Strategy } from '../strategies/strategy.js'
import { type AutoStrategy, checkAuto, isAuto } from './auto.js'
import { friendPairs } from './candidate-loads.js'
import { isGrouped } from './candidates.js'
import { type ChosenOperation, checkedChosen } from './choice.js'
import { chooseStrategy } from './choose-strategy.js'
import { isTimedByMoves, type Setting, timedStrategy } from './simulated.js'
import { improveByTimedSwaps, type MappedTime, type TimedSlots } from './timed-swaps.js'

export interface SimulatedTimeOptions extends Pick<MapOptions, 'starts' | 'seed' | 'mostWork'> {
  /** Of every block: an integer from 0 to 2^40. */
  readonly bytes: number
  /** Default `auto`, whose `bytes` are left to the option above: each start with the strategy that is chosen for it. */
  readonly strategy?: Strategy | AutoStrategy
  /** Default `neighbor-allgather`. */
  readonly operation?: ChosenOperation
  /** Swaps that are simulated at most: 0 to 2^20. Default 1,000. */
  readonly swaps?: number
}

const options: OptionTable<SimulatedTimeOptions> = {
  bytes: integerOption({ least: 0, most: longestBlockBytes, required: true }),
  strategy: uncheckedOption,
  operation: uncheckedOption,
  swaps: integerOption({ least: 0, most: 2 ** 20 }),
  // Checked by `mapTopology`.
  starts: uncheckedOption,
  seed: uncheckedOption,
  mostWork: uncheckedOption,
}

/** Where the vertices of a topology take least time, as the simulator predicts it. */
export interface SimulatedMapping {
  /** The slot of every vertex: a permutation of the ranks. */
  readonly slotOf: Int32Array
  /** The node of every vertex. */
  readonly nodeOf: Int32Array
  /** Simulated, until the last rank is done. */
  readonly timeUs: number
  /** The same with vertex v on slot v. Never less than `timeUs`. */
  readonly identityUs: number
  /** The strategy that takes `timeUs`. */
  readonly strategy: Strategy
  /** The strategy that takes `identityUs`. */
  readonly identityStrategy: Strategy
  /** From what it was refined: `identity`, or a start and the objective that it was mapped by: `bisection by pairs`. */
  readonly start: string
  /** Swaps that were simulated. */
  readonly swaps: number
}

/** Ranks of the largest topology whose mapping is refined by simulated time. */
export const mostRefinedRanks = 1024
const defaultSwaps = 1000
/** Of all swaps together, in blocks that are moved: some 2 us each. */
const mostSwapWork = 2 ** 22
/** How many times as much work a block is where a schedule is planned. */
const workOfPlanned = 4

/**
 * Places the vertices of a topology on the cores of a machine so that an operation takes least simulated time. Starts are
 * vertex v on core v, and the mapping by every objective of `mapTopology`. Of up to 1,024 ranks the fastest start is
 * refined by swaps of two vertices, each of which is simulated: at most `swaps` of them, and about 2^22 blocks that they move. Of
 * more ranks the fastest start is the result. Never slower than vertex v on core v. Deterministic.
 *
 * With `auto` a strategy is chosen for every start, and once more after refinement.
 *
 * @param machine with a profile, and a core for every rank
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than ranks
 * @throws ERR_STRATEGY also for `cartesian`: a mapped grid is no grid
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

/** A topology to be placed, and what is simulated of it. */
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
  checkedKind(asked, ranks)
  if (asked.kind === 'cartesian')
    throw strategyError(
      'cartesian: expected a strategy for ranks in any order, since a mapped grid is no grid',
    )
}

/** Identity first; of equal ones the first. */
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

/** The strategy that is asked for, or chosen, for vertices on their slots, and what it takes. */
function planned(slotOf: Int32Array, slots: PlacedOperation, asked: AskedStrategy) {
  const { topology, machine, operation, bytes } = slots
  const mapped = onSlots(topology, slotOf)
  const strategy = isAuto(asked)
    ? chooseStrategy(mapped, machine, { bytes, operation, ...givenOptions({ budget: asked.budget }) })
        .strategy
    : asked
  return { strategy, ...mappedTime(mapped, slots, strategy) }
}

/** The topology with its grid, if it has one, where no vertex moves. */
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
 * The fastest start that can be, refined; with `auto` also by the strategy that is chosen then. None for larger topologies.
 * A strategy of a grid cannot follow ranks that change places.
 */
function refinedFrom(
  placed: readonly Placed[],
  slots: PlacedOperation,
  asked: AskedStrategy,
  { swaps, next }: { readonly swaps: number; readonly next: () => number },
): { readonly mappings: readonly Placed[]; readonly swaps: number } {
  const { topology, nodeOfSlot } = slots
  const movable = placed.filter(({ strategy }) => strategy.kind !== 'cartesian')
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

/** The first of equal ones. */
function fastest(placed: readonly Placed[]): Placed {
  return placed.reduce((a, b) => (b.timeUs < a.timeUs ? b : a))
}
