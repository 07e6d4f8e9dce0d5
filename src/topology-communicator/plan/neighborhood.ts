import { RecentObjects } from '../../base/maps.js'
import { indexIn, rangeAt } from '../../base/search.js'
import type { CommHandle, CommState } from '../../comm/comm-state.js'
import { type LocalRankTable, worldRanksOf } from '../../comm/table/rank-table.js'
import { type Machine, machineOfCores, nodeOf as nodesOfMachine } from '../../machine/machine.js'
import type { AutoStrategy, Choice, ChosenOperation } from '../../neighborhood/choose/auto.js'
import { ChoicesBySize } from '../../neighborhood/choose/choices-by-size.js'
import { prepareChoices } from '../../neighborhood/choose/choose-strategy.js'
import type { NeighborOperation, Plan } from '../../neighborhood/plan/plan.js'
import { type CachedPlan, PlanCache } from '../../neighborhood/plan/plan-cache.js'
import {
  directAlltoallOfRanks,
  type PlanOfRanks,
  planInRanks,
} from '../../neighborhood/plan/plan-of-ranks.js'
import { reduceInOrder } from '../../neighborhood/strategies/reduce-schedule.js'
import { formatStrategy, type Strategy } from '../../neighborhood/strategies/strategies.js'
import type { Schedule } from '../../schedule/ir.js'
import { lowerInRounds } from '../../schedule/lower/lower.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { roundsByPhase } from '../../schedule/lower/rounds.js'
import { neighborAllgatherSpecification } from '../../schedule/specification.js'
import { cartNeighborSlots, procNull } from '../../topology/cart-shape.js'
import { relabelledTopology } from '../../topology/mapping/relabel.js'
import { inNeighbors, outNeighbors } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { NeighborProgram, type NeighborTraffic, noTraffic } from './neighbor-program.js'

/** The plans of this thread's communicators. Logical processes that have the same topology object share its plan. */
const plans = new PlanCache(32)

/** The plan for a process's ranks where no process has the whole topology. */
export interface PlacedPart {
  readonly plan: PlanOfRanks
  /** The process index of the rank of every number. */
  readonly placement: Int32Array
  /** The communicator that was made for renumbered ranks; absent if ranks keep their numbers. */
  readonly moved?: MovedRanks | undefined
}

/** Ranks in the places that a mapping chose. */
interface MovedRanks {
  readonly state: CommState
  /** The new rank of every rank of the parent in this process, by local index. */
  readonly vertexAt: Int32Array
}

/** The whole topology, or the plan for this process's ranks. */
export type TopologyOrPlan = { readonly topology: ProcessTopology } | PlacedPart

interface NeighborhoodOptions {
  readonly strategy: Strategy
  /**
   * Nodes and cores of the ranks, for strategies in aware mode. Default: the machine of the world, else the nodes of its
   * processes.
   */
  readonly machine?: Machine | undefined
  /**
   * Lets the library choose by block length, for the machine or that of the world, which has a profile. `strategy`
   * serves the operations that it cannot choose for.
   */
  readonly auto?: AutoStrategy | undefined
  /** The core of every rank on `machine`; null or absent: rank r is on core r. */
  readonly slotOf?: Int32Array | null | undefined
}

/** So many neighborhoods that execute a chosen strategy are retained per communicator. */
const mostChosen = 8

/** The handle of a rank, as the functions behind its neighborhood collectives see it. */
export interface NeighborHandle extends CommHandle {
  readonly neighborhood: Neighborhood
}

/** The row of a rank's lists in the arrays of a topology. */
interface OwnRow {
  readonly topology: ProcessTopology
  readonly row: number
  /** The rank of every number; null if numbers are ranks. */
  readonly rankOf: Int32Array | null
}

/**
 * The part of a topology communicator that the ranks of a process share: the topology, and, from the first neighborhood
 * collective on, the plan and this process's part of it. Every process makes the plan without messages, because a plan
 * depends only on topology, strategy and nodes. If no process has the whole topology, the plan of this process's ranks
 * is made with the communicator. Memory is then proportional to their neighborhoods.
 */
export class Neighborhood {
  readonly strategy: Strategy
  readonly traffic: NeighborTraffic
  /** The machine of the options. */
  readonly machine: Machine | undefined
  readonly #auto: AutoStrategy | undefined
  readonly #state: CommState
  readonly #slotOf: Int32Array | null
  /** The ranks on the machine for which choices are made. */
  readonly #placed: RanksOnMachine | undefined
  /** The topology for choices: its ranks are in the order of cores. */
  #placedTopology: ProcessTopology | undefined
  /** The whole topology; undefined if no process has it. */
  #topology: ProcessTopology | undefined
  readonly #part: PlanOfRanks | undefined
  /** The processes of the part's ranks. */
  readonly #placement: Int32Array | undefined
  /** The part in ranks. It takes memory for all ranks, so it is retained only while it is in use. */
  #partInRanks: WeakRef<Plan> | undefined
  #cached: CachedPlan | undefined
  readonly #operations = new Map<NeighborOperation, NeighborProgram>()
  /** The choices by length; undefined if the strategy was given. */
  readonly #choices: ChoicesBySize | undefined
  /** The neighborhoods of chosen strategies, the last used one at the end. */
  readonly #chosen = new Map<string, Neighborhood>()
  /**
   * Whether processes share its tables. The processes of a communicator share one plan; chosen strategies add further
   * plans.
   */
  readonly #isShared: boolean
  /** The slices that some of their ranks in this process have yet to request. */
  readonly #slices = new Map<CommState, { readonly neighborhood: Neighborhood; missing: number }>()

  /** @param of the neighborhood of the communicator, if this one executes a chosen strategy */
  constructor(
    state: CommState,
    given: TopologyOrPlan,
    { strategy, machine, auto, slotOf = null }: NeighborhoodOptions,
    of?: Neighborhood,
  ) {
    this.#state = state
    this.strategy = strategy
    this.#auto = auto
    this.machine = machine
    this.#slotOf = slotOf
    this.traffic = of?.traffic ?? noTraffic()
    this.#isShared = of === undefined && auto === undefined
    if ('plan' in given) {
      this.#part = given.plan
      this.#placement = given.placement
      return
    }
    this.#topology = given.topology
    if (auto !== undefined) {
      const ofWorld = () => onWorldMachine(state.runtime.options.machine!, state.wholeTable)
      this.#placed = machine === undefined ? ofWorld() : { machine, slotOf }
      const isRenumbered = (this.#placed.slotOf ?? null) !== null
      this.#choices = new ChoicesBySize(this.#placed.machine, auto, isRenumbered)
    }
    if (of !== undefined) return
    state.tables.share('topology', given.topology, (shared) => {
      this.#topology = shared
    })
  }

  /**
   * Returns the neighborhood that executes collectives with blocks of some length, or with lengths that no rank knows
   * completely (null). It is this one, or one for the strategy that the library chooses. All ranks pass the same
   * arguments.
   */
  forBlocks(bytes: number | null, operation: ChosenOperation = 'neighbor-allgather'): Neighborhood {
    const choice = this.choiceFor(bytes, operation)
    return choice === null ? this : this.by(choice.strategy)
  }

  /** Returns the neighborhood that executes a strategy that the library may choose; one object while it is in use. */
  by(strategy: Strategy): Neighborhood {
    if (this.#choices === undefined) return this
    const text = formatStrategy(strategy)
    const options = { strategy, machine: this.machine, slotOf: this.#slotOf }
    const chosen =
      this.#chosen.get(text) ?? new Neighborhood(this.#state, { topology: this.topology }, options, this)
    this.#chosen.delete(text)
    this.#chosen.set(text, chosen)
    if (this.#chosen.size > mostChosen) this.#chosen.delete(this.#chosen.keys().next().value!)
    return chosen
  }

  get isAuto(): boolean {
    return this.#auto !== undefined
  }

  /** Does the work that choices for all lengths share, without holding the event loop for long. */
  async prepareChoices(): Promise<void> {
    if (this.#placed !== undefined) await prepareChoices(this.#topologyOfChoices(), this.#placed.machine)
  }

  /** Chooses for blocks of some length, unless the choice exists, without holding the event loop for long. */
  async prepareChoice(bytes: number | null, operation: ChosenOperation): Promise<void> {
    await this.#choices?.prepare(this.#topologyOfChoices(), bytes, operation)
  }

  /** Whether a choice has yet to be made, which takes time. */
  mustChoose(bytes: number | null, operation: ChosenOperation): boolean {
    return this.#choices?.has(this.#topologyOfChoices(), bytes, operation) === false
  }

  /** Returns the topology for the machine on which the choice is made: its ranks are in the order of cores. */
  #topologyOfChoices(): ProcessTopology {
    const slotOf = this.#placed?.slotOf ?? null
    if (slotOf === null) return this.topology
    this.#placedTopology ??= cachedTopology(relabelledTopology(this.topology, slotOf))
    return this.#placedTopology
  }

  /** The length for which strategies are chosen, whatever is sent; null if the lengths of blocks decide. */
  get fixedBytes(): number | null {
    return this.#choices?.fixedBytes ?? null
  }

  /** Returns the choice for blocks of some length; null if the strategy was given. */
  choiceFor(bytes: number | null, operation: ChosenOperation): Choice | null {
    return this.#choices?.choiceFor(this.#topologyOfChoices(), bytes, operation) ?? null
  }

  /** Whether calls need no rank table: the process of every rank of a part was looked up when the part was made. */
  get isLocated(): boolean {
    return this.#part !== undefined
  }

  /** Whether receive buffers have slots for neighbors that do not exist. */
  get isGrid(): boolean {
    return this.#part === undefined && this.#topology!.cart !== null
  }

  /** The topology; of a part the one that has only the lists of this process's ranks. */
  get topology(): ProcessTopology {
    return this.#topology ?? this.plan.schedule.topology
  }

  /** Returns the ranks that a rank of this process receives from, in list order. A fresh array. */
  sourcesOf(rank: number): Int32Array {
    const { topology, row, rankOf } = this.#rowOf(rank)
    return named(inNeighbors(topology, row), rankOf)
  }

  destinationsOf(rank: number): Int32Array {
    const { topology, row, rankOf } = this.#rowOf(rank)
    return named(outNeighbors(topology, row), rankOf)
  }

  sourceWeightsOf(rank: number): Float64Array | null {
    const { topology, row } = this.#rowOf(rank)
    return topology.inWeight?.slice(topology.inStart[row], topology.inStart[row + 1]) ?? null
  }

  destinationWeightsOf(rank: number): Float64Array | null {
    const { topology, row } = this.#rowOf(rank)
    return topology.outWeight?.slice(topology.outStart[row], topology.outStart[row + 1]) ?? null
  }

  /**
   * Returns the number of blocks in the receive buffer of a rank: its sources, or on a grid two per dimension (MPI-4.1
   * §8.6).
   */
  slotsOf(rank: number): number {
    const { topology, row } = this.#rowOf(rank)
    const { cart, inStart } = topology
    return cart === null ? inStart[row + 1] - inStart[row] : 2 * cart.dims.length
  }

  /**
   * Returns the number of blocks in the send buffer of a rank in an alltoall: its destinations, or on a grid two per
   * dimension.
   */
  sendSlotsOf(rank: number): number {
    const { topology, row } = this.#rowOf(rank)
    const { cart, outStart } = topology
    return cart === null ? outStart[row + 1] - outStart[row] : 2 * cart.dims.length
  }

  /** Returns 1 for every block of the send buffer of a rank that has a destination, else 0. */
  destinationSlotsOf(rank: number): Uint8Array {
    const { cart } = this.#rowOf(rank).topology
    if (cart === null) return new Uint8Array(this.sendSlotsOf(rank)).fill(1)
    return Uint8Array.from(cartNeighborSlots(cart, rank), (neighbor) => (neighbor === procNull ? 0 : 1))
  }

  #rowOf(rank: number): OwnRow {
    if (this.#part === undefined) return { topology: this.#topology!, row: rank, rankOf: null }
    const { rankOf, schedule } = this.#part
    return { topology: schedule.topology, row: indexIn(rankOf, rank), rankOf }
  }

  get plan(): Plan {
    if (this.#part === undefined) return this.#cachedPlan().plan
    let plan = this.#partInRanks?.deref()
    if (plan === undefined) {
      plan = planInRanks(this.#part)
      this.#partInRanks = new WeakRef(plan)
    }
    return plan
  }

  /**
   * Returns this process's program for an operation, planned and lowered at its first call. Its slots are those of MPI's
   * receive buffer. If no process has the whole topology, blocks of an alltoall are sent directly, whatever the
   * strategy, and reductions are in list order.
   *
   * @throws ERR_SCHEDULE when the plan does not verify
   */
  operation(operation: NeighborOperation): NeighborProgram {
    let found = this.#operations.get(operation)
    if (found === undefined) {
      const part = this.#part
      found = part === undefined ? this.#wholeOperation(operation) : this.#partOperation(operation, part)
      this.#operations.set(operation, found)
    }
    return found
  }

  #wholeOperation(operation: NeighborOperation): NeighborProgram {
    const isAllgather = operation === 'neighbor-allgather'
    const cached = isAllgather
      ? this.#cachedPlan()
      : plans.planFor(this.topology, this.strategy, this.nodes, operation)
    const { plan, rounds } = cached
    const { processIndex } = this.#state
    const program = lowerInRounds(plan.schedule, placementOf(this.#state), processIndex, rounds)
    const isOnGrid = this.topology.cart !== null && (isAllgather || operation === 'neighbor-alltoall')
    if (!isOnGrid) return new NeighborProgram(program, null, cached, this.traffic)
    const ownSlot = isAllgather ? null : ownSlotsOnGrid(program, this.topology)
    return new NeighborProgram(onGrid(program, this.topology), ownSlot, cached, this.traffic)
  }

  #partOperation(operation: NeighborOperation, part: PlanOfRanks): NeighborProgram {
    const schedule = scheduleOfPart(operation, part)
    const { processIndex } = this.#state
    const program = lowerInRounds(schedule, this.#placement!, processIndex, roundsByPhase(schedule))
    const named = (numbers: Int32Array) => numbers.map((number) => part.rankOf[number])
    const ranks = named(program.ranks)
    // The blocks of an allgather are named by their rank.
    const terms = operation === 'neighbor-allgather' ? { valueTerm: named(program.valueTerm) } : {}
    return new NeighborProgram({ ...program, ranks, ...terms }, null, null, this.traffic)
  }

  /**
   * Whether slices of this grid choose their strategies: they do on the machine of the world, which has all
   * communicators.
   */
  get slicesChoose(): boolean {
    return this.machine === undefined && this.isAuto
  }

  /**
   * Returns the neighborhood of a slice of this grid: one object for the slice's ranks in this process.
   *
   * @param state placed, if slices choose
   */
  ofSlice(state: CommState, topologyOfSlice: () => ProcessTopology): Neighborhood {
    let slice = this.#slices.get(state)
    if (slice === undefined) {
      const { strategy } = this
      // The machine that was given for the grid does not locate the slice.
      const auto = this.slicesChoose ? this.#auto : undefined
      const neighborhood = new Neighborhood(state, { topology: topologyOfSlice() }, { strategy, auto })
      slice = { neighborhood, missing: state.localRanks.length }
      this.#slices.set(state, slice)
    }
    if (--slice.missing === 0) this.#slices.delete(state)
    return slice.neighborhood
  }

  get nodes(): Int32Array {
    const nodes = nodesInCommunicator(this.#state, this.machine, placementOf(this.#state))
    return this.machine === undefined || this.#slotOf === null
      ? nodes
      : this.#slotOf.map((slot) => nodes[slot])
  }

  /** The plan that another communicator of this thread has; undefined without one. */
  get planInMemory(): Plan | undefined {
    return plans.find(this.topology, this.strategy, this.nodes)?.plan
  }

  /** Takes a verified plan of the whole topology, unless there is one in memory. */
  adopt(plan: Plan): void {
    const { topology, strategy, nodes } = this
    if (plans.find(topology, strategy, nodes) === undefined) plans.adopt(topology, strategy, nodes, plan)
    this.#cachedPlan()
  }

  #cachedPlan(): CachedPlan {
    if (this.#cached === undefined) {
      const cached = plans.planFor(this.topology, this.strategy, this.nodes)
      this.#cached = cached
      if (!this.#isShared) return cached
      const { schedule, ...others } = cached.plan
      const { topology: _, specification: __, ...tables } = schedule
      this.#state.tables.share('plan', { ...others, schedule: tables }, (shared) => {
        const { topology } = this
        const specification = neighborAllgatherSpecification(topology)
        cached.replace({ ...shared, schedule: { ...shared.schedule, specification, topology } })
      })
    }
    return this.#cached
  }
}

function scheduleOfPart(operation: NeighborOperation, part: PlanOfRanks): Schedule {
  if (operation === 'neighbor-allgather') return part.schedule
  return operation === 'neighbor-alltoall' ? directAlltoallOfRanks(part) : reduceInOrder(part.schedule)
}

/** Copies numbers as the ranks that they stand for. */
const named = (numbers: Int32Array, rankOf: Int32Array | null): Int32Array =>
  rankOf === null ? numbers.slice() : numbers.map((number) => rankOf[number])

/**
 * Renumbers the slots of a grid's program: its lists hold the neighbors that exist; MPI's buffers have slots for the
 * missing ones too.
 */
function onGrid(program: ProcessProgram, topology: ProcessTopology): ProcessProgram {
  const existing = existingSlots(program, topology)
  const fillSlot = program.fillSlot.map((slot, f) => existing[program.fillRank[f]][slot])
  return { ...program, fillSlot }
}

/** Lists for every hosted rank the slots of MPI's buffer that have a neighbor. */
function existingSlots({ ranks }: ProcessProgram, { cart }: ProcessTopology): number[][] {
  return Array.from(ranks, (rank) => {
    const existing: number[] = []
    for (const [slot, neighbor] of cartNeighborSlots(cart!, rank).entries()) {
      if (neighbor !== procNull) existing.push(slot)
    }
    return existing
  })
}

/** Returns for every contributed value of a grid its block in its rank's send buffer. */
function ownSlotsOnGrid(program: ProcessProgram, topology: ProcessTopology): Int32Array {
  const { ownStart } = program
  const existing = existingSlots(program, topology)
  return Int32Array.from(existing.flatMap((slots, i) => slots.slice(0, ownStart[i + 1] - ownStart[i])))
}

/** Returns the process index of every rank of a communicator. */
export function placementOf({ size, processes: { runStart, runProcess } }: CommState): Int32Array {
  const placement = new Int32Array(size)
  for (let run = 0; run < runProcess.length; run++) {
    placement.fill(runProcess[run], runStart[run], runStart[run + 1])
  }
  return placement
}

/**
 * Returns the node of every rank: that of the machine, whose core r has rank r. Without a machine, that of the world's
 * machine, else of the process that hosts it.
 */
export function nodesInCommunicator(
  state: CommState,
  machine: Machine | undefined,
  placement: Int32Array,
): Int32Array {
  if (machine !== undefined) return nodesOfMachine(machine, state.size)
  const ofWorld = state.runtime.options.machine
  if (ofWorld !== undefined) return nodesOnWorldMachine(ofWorld, state.wholeTable)
  return placement.map((index) => state.runtime.layout.nodeOfProcess[state.processes.processes.at(index)])
}

// Rank r of the world is on core r of its machine. A rank of another communicator is on the core of its rank in the
// world.

/** The ranks of a communicator on a machine that has cores for them alone. */
interface RanksOnMachine {
  readonly machine: Machine
  /** The core of every rank; null if rank r is on core r. */
  readonly slotOf: Int32Array | null
}

/**
 * Places the ranks of a communicator on the machine of their world.
 *
 * @param table the ranks in the world
 */
function onWorldMachine(machine: Machine, table: LocalRankTable): RanksOnMachine {
  if (table.kind === 'strided' && table.start === 0 && table.stride === 1) return { machine, slotOf: null }
  const worldRanks = worldRanksOf(table)
  const cores = worldRanks.slice().sort()
  const slotOf = worldRanks.map((core) => indexIn(cores, core))
  return {
    machine: machineOfCores(machine, cores),
    slotOf: slotOf.every((slot, rank) => slot === rank) ? null : slotOf,
  }
}

/** Returns the node of every rank of a communicator on the machine of the world. */
function nodesOnWorldMachine(machine: Machine, table: LocalRankTable): Int32Array {
  return worldRanksOf(table).map((core) => rangeAt(machine.firstRank, core))
}

/** The topologies that processes of this thread made last. The capacity suffices for those made concurrently. */
const recentTopologies = new RecentObjects<ProcessTopology>(4)

/**
 * Returns the topology, or an equal one that another process of this thread has just made. Logical processes that
 * gather the same lists then share the arrays, and with them the plan.
 */
export function cachedTopology(made: ProcessTopology): ProcessTopology {
  return recentTopologies.find((cached) => isEqual(cached, made)) ?? recentTopologies.add(made)
}

function isEqual(a: ProcessTopology, b: ProcessTopology): boolean {
  return (
    a.ranks === b.ranks &&
    a.pairing === b.pairing &&
    sameNumbers(a.cart?.dims, b.cart?.dims) &&
    a.cart?.periods.join() === b.cart?.periods.join() &&
    sameNumbers(a.outStart, b.outStart) &&
    sameNumbers(a.outRank, b.outRank) &&
    sameNumbers(a.inStart, b.inStart) &&
    sameNumbers(a.inRank, b.inRank) &&
    sameNumbers(a.outWeight, b.outWeight) &&
    sameNumbers(a.inWeight, b.inWeight)
  )
}

function sameNumbers(
  a: ArrayLike<number> | null | undefined,
  b: ArrayLike<number> | null | undefined,
): boolean {
  if (a === b) return true
  if (a == null || b == null || a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false
  return true
}

/**
 * Returns the neighborhood that executes an operation with blocks of some length: the given one, or one for the chosen
 * strategy. It is a promise if the choice is made first, without holding the event loop for long. All ranks pass the
 * same arguments.
 */
export function chosenNeighborhood(
  neighborhood: Neighborhood,
  bytes: number,
  operation: ChosenOperation,
): Neighborhood | Promise<Neighborhood> {
  const chosen = () => neighborhood.forBlocks(bytes, operation)
  if (!neighborhood.mustChoose(bytes, operation)) return chosen()
  return neighborhood.prepareChoice(bytes, operation).then(chosen)
}

/**
 * Returns the neighborhood of an alltoall, as {@link chosenNeighborhood} does. Blocks whose length not all ranks know
 * are sent directly, unless the strategy names the length to choose for. Routes send blocks of an alltoall more than
 * once, so a wrong guess costs what a right one saves.
 *
 * @param bytes of every block; null if they vary
 */
export function chosenAlltoall(
  neighborhood: Neighborhood,
  bytes: number | null,
): Neighborhood | Promise<Neighborhood> {
  if (!hasChoice(neighborhood)) return neighborhood
  const known = neighborhood.fixedBytes ?? (isLengthKnown(neighborhood) ? bytes : null)
  return known === null ? neighborhood : chosenNeighborhood(neighborhood, known, 'neighbor-alltoall')
}

/** Whether ranks agree on the length of equal blocks as well, because the strategy is chosen by it. */
export function isChosenByLength(neighborhood: Neighborhood): boolean {
  return hasChoice(neighborhood) && neighborhood.fixedBytes === null && isLengthKnown(neighborhood)
}

/**
 * Whether the library chooses. False if ranks plan from their neighbors, whatever the strategy: reading the topology
 * would build it for all ranks.
 */
function hasChoice({ isAuto, isLocated }: Neighborhood): boolean {
  return isAuto && !isLocated
}

const withKnownLengths = new WeakMap<ProcessTopology, boolean>()

/**
 * Whether every rank knows the length of an alltoall's equal blocks: each sends one, or has the slot of one on a grid.
 */
function isLengthKnown({ topology }: Neighborhood): boolean {
  let isKnown = withKnownLengths.get(topology)
  if (isKnown === undefined) {
    const { cart, outStart } = topology
    isKnown =
      cart === null
        ? outStart.every((start, rank) => rank === 0 || start > outStart[rank - 1])
        : cart.dims.length > 0
    withKnownLengths.set(topology, isKnown)
  }
  return isKnown
}
