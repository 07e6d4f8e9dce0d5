import type { CommState } from '../../comm/context/comm-state.js'
import type { Machine } from '../../machine/machine.js'
import { lowerInRounds, type ProcessProgram } from '../../schedule/lower/lower.js'
import { roundsByPhase } from '../../schedule/lower/rounds.js'
import { cartNeighborSlots, procNull } from '../../topology/cart-shape.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { type CachedPlan, PlanCache } from '../plan/plan-cache.js'
import type { Plan, Strategy } from '../plan/strategy.js'
import type { NeighborTraffic } from './neighbor-traffic.js'
import { nodesOf, placementOf } from './placement.js'
import { type SlotList, slotList } from './uniform-store.js'

/** The plans of this thread's communicators: logical processes that have the same topology object share its plan. */
const plans = new PlanCache(32)

export interface NeighborhoodOptions {
  readonly topology: ProcessTopology
  readonly strategy: Strategy
  /** Nodes and cores of the ranks, for strategies in aware mode. Default: the nodes of the world's processes. */
  readonly machine?: Machine | undefined
  /** The plan for this process's ranks, when no process has the whole topology. */
  readonly plan?: Plan | undefined
}

/**
 * What the ranks of a process share of a communicator with a topology: the topology, and, from the first neighborhood
 * collective on, the plan and this process's part of it. Every process makes the plan itself, without messages: a plan is
 * a function of topology, strategy and nodes alone.
 */
export class Neighborhood {
  readonly strategy: Strategy
  /** Node of every rank. */
  readonly nodeOf: Int32Array
  readonly traffic: NeighborTraffic = {
    calls: 0,
    messagesSent: 0,
    messagesInProcess: 0,
    framesSent: 0,
    blocksSent: 0,
  }
  /** Process index of every rank. */
  readonly #placement: Int32Array
  readonly #processIndex: number
  readonly #state: CommState
  #topology: ProcessTopology
  /** A plan for the ranks of this process only, where no process has the whole topology. */
  readonly #planOfRanks: Plan | undefined
  #cached: CachedPlan | undefined
  #program: ProcessProgram | undefined
  #slots: SlotList | undefined
  /** Slices that not all of their ranks in this process have requested yet. */
  readonly #slices = new Map<CommState, { readonly neighborhood: Neighborhood; missing: number }>()

  constructor(state: CommState, { topology, strategy, machine, plan }: NeighborhoodOptions) {
    this.#topology = topology
    this.#state = state
    this.strategy = strategy
    this.#placement = placementOf(state)
    this.#processIndex = state.processIndex
    this.nodeOf = nodesOf(state, machine, this.#placement)
    this.#planOfRanks = plan
    // With a plan for its own ranks a process has only their part of the topology.
    if (plan !== undefined) return
    state.tables.share('topology', topology, (shared) => {
      this.#topology = shared
    })
  }

  get topology(): ProcessTopology {
    return this.#topology
  }

  /** Blocks in the receive buffer of a rank: its sources, or on a grid two per dimension (MPI-4.1 §8.6). */
  slotsOf(rank: number): number {
    const { cart, inStart } = this.topology
    return cart === null ? inStart[rank + 1] - inStart[rank] : 2 * cart.dims.length
  }

  get plan(): Plan {
    return this.#planOfRanks ?? this.#cachedPlan().plan
  }

  /** This process's program; its slots are those of MPI's receive buffer. */
  get program(): ProcessProgram {
    if (this.#program === undefined) {
      const { schedule } = this.plan
      const rounds = this.#planOfRanks === undefined ? this.#cachedPlan().rounds : roundsByPhase(schedule)
      const program = lowerInRounds(schedule, this.#placement, this.#processIndex, rounds)
      this.#program = this.topology.cart === null ? program : onGrid(program, this.topology)
    }
    return this.#program
  }

  /** The slots of the program, rank by rank. */
  get slots(): SlotList {
    this.#slots ??= slotList(this.program)
    return this.#slots
  }

  /** The neighborhood of a slice of this grid: one object for the slice's ranks in this process. */
  ofSlice(state: CommState, topologyOfSlice: () => ProcessTopology): Neighborhood {
    let slice = this.#slices.get(state)
    if (slice === undefined) {
      const neighborhood = new Neighborhood(state, { topology: topologyOfSlice(), strategy: this.strategy })
      slice = { neighborhood, missing: state.localRanks.length }
      this.#slices.set(state, slice)
    }
    if (--slice.missing === 0) this.#slices.delete(state)
    return slice.neighborhood
  }

  #cachedPlan(): CachedPlan {
    if (this.#cached === undefined) {
      const cached = plans.planFor(this.topology, this.strategy, this.nodeOf)
      this.#cached = cached
      const { schedule, ...others } = cached.plan
      const { topology, ...tables } = schedule
      this.#state.tables.share('plan', { ...others, schedule: tables }, (shared) => {
        cached.replace({ ...shared, schedule: { ...shared.schedule, topology: this.#topology } })
      })
    }
    return this.#cached
  }
}

/** The lists of a grid hold the neighbors that exist; MPI's buffers have slots for the missing ones too. */
function onGrid(program: ProcessProgram, { cart }: ProcessTopology): ProcessProgram {
  const places = Array.from(program.ranks, (rank) => {
    const existing: number[] = []
    for (const [slot, neighbor] of cartNeighborSlots(cart!, rank).entries()) {
      if (neighbor !== procNull) existing.push(slot)
    }
    return existing
  })
  const fillSlot = program.fillSlot.map((slot, f) => places[program.fillRank[f]][slot])
  return { ...program, fillSlot }
}
