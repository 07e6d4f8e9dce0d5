import type { CommState } from '../../comm/context/comm-state.js'
import { RankweaveError } from '../../errors.js'
import { type Machine, nodeOf as nodesOfMachine } from '../../machine/machine.js'
import type { Schedule } from '../../schedule/ir.js'
import { lowerInRounds, type ProcessProgram } from '../../schedule/lower/lower.js'
import { type MessageRounds, messageRounds, roundsByPhase } from '../../schedule/lower/rounds.js'
import { verify } from '../../schedule/verify/verify.js'
import { cartNeighborSlots, procNull } from '../../topology/cart-shape.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { plan } from '../plan/plan.js'
import type { Plan, Strategy } from '../plan/strategy.js'
import { formatStrategy } from '../plan/strategy-text.js'
import { type SlotList, slotList } from './even-store.js'
import type { NeighborTraffic } from './neighbor-traffic.js'

export interface NeighborhoodOptions {
  readonly topology: ProcessTopology
  readonly strategy: Strategy
  /** Where the ranks live, for strategies in aware mode. Default: the nodes of the world's processes. */
  readonly machine?: Machine | undefined
  /** The plan for this process's ranks, when no process has the whole topology. */
  readonly plan?: Plan | undefined
}

/**
 * What the ranks of a process share of a communicator with a topology: the topology, and, from the first neighborhood
 * collective on, the plan and this process's part of it. Every process plans for itself, without a message: a plan is
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
  #plan: Plan | undefined
  #known: KnownPlan | undefined
  #program: ProcessProgram | undefined
  #slots: SlotList | undefined

  constructor(state: CommState, { topology, strategy, machine, plan }: NeighborhoodOptions) {
    this.#topology = topology
    this.#state = state
    this.strategy = strategy
    this.#placement = placementOf(state)
    this.#processIndex = state.processIndex
    this.nodeOf = nodesOf(state, machine, this.#placement)
    this.#plan = plan
    // With a plan of its own ranks a process has their part of the topology only.
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
    if (this.#plan === undefined) {
      const known = knownPlan(this)
      this.#known = known
      this.#plan = known.held.deref()!
      const { schedule, ...others } = this.#plan
      const { topology, ...tables } = schedule
      this.#state.tables.share('plan', { ...others, schedule: tables }, (shared) => {
        this.#plan = { ...shared, schedule: { ...shared.schedule, topology: this.#topology } }
        // Shared memory goes with the communicators that use it, not with the topology.
        known.held = new WeakRef(this.#plan)
        known.rounds = undefined
        this.#known = undefined
      })
    }
    return this.#plan
  }

  /** This process's program; its slots are places in the receive buffer as MPI lays it out. */
  get program(): ProcessProgram {
    if (this.#program === undefined) {
      const { schedule, ranks } = this.plan
      const rounds = ranks === undefined ? this.#messageRounds(schedule) : roundsByPhase(schedule)
      const program = lowerInRounds(schedule, this.#placement, this.#processIndex, rounds)
      this.#program = this.topology.cart === null ? program : onGrid(program, this.topology)
    }
    return this.#program
  }

  /** Found once for all processes of an address space that use the plan; shared memory has one process each. */
  #messageRounds(schedule: Schedule): MessageRounds {
    const known = this.#known
    if (known?.held.deref()?.schedule !== schedule) return messageRounds(schedule)
    known.rounds ??= messageRounds(schedule)
    return known.rounds
  }

  /** The slots of the program, rank by rank. */
  get slots(): SlotList {
    this.#slots ??= slotList(this.program)
    return this.#slots
  }
}

/** A plan that was made, and what for. */
interface KnownPlan {
  readonly strategy: string
  readonly nodeOf: Int32Array
  held: { deref(): Plan | undefined }
  /** Rounds of the messages of its schedule, once a process has lowered it. */
  rounds: MessageRounds | undefined
}

/** Plans of a topology, for processes of one address space that were given the same object. */
const plansOf = new WeakMap<ProcessTopology, KnownPlan[]>()

/** The plan of this topology, made and verified now unless it is known. */
function knownPlan({ topology, strategy, nodeOf }: Neighborhood): KnownPlan {
  const plans = (plansOf.get(topology) ?? []).filter(({ held }) => held.deref() !== undefined)
  plansOf.set(topology, plans)
  const text = formatStrategy(strategy)
  const known = plans.find((made) => made.strategy === text && equal(made.nodeOf, nodeOf))
  if (known !== undefined) return known
  const made = plan(topology, strategy, { nodeOf })
  const { ok, violations } = verify(made.schedule)
  if (!ok) throw new RankweaveError('ERR_SCHEDULE', `the plan does not verify: ${violations[0]?.message}`)
  const kept: KnownPlan = { strategy: text, nodeOf, held: { deref: () => made }, rounds: undefined }
  plans.push(kept)
  return kept
}

function equal(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i])
}

/** Node of every rank: that of the machine, or of the process that hosts it. */
export function nodesOf(state: CommState, machine: Machine | undefined, placement: Int32Array): Int32Array {
  if (machine !== undefined) return nodesOfMachine(machine, state.size)
  return placement.map((index) => state.runtime.layout.nodeOfProcess[state.processes.processes[index]])
}

/** Process index of every rank. */
export function placementOf({ size, processes: { runStart, runProcess } }: CommState): Int32Array {
  const placement = new Int32Array(size)
  for (let run = 0; run < runProcess.length; run++) {
    placement.fill(runProcess[run], runStart[run], runStart[run + 1])
  }
  return placement
}

/** The lists of a grid hold the neighbors that exist; in MPI's buffers missing ones keep their place. */
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
