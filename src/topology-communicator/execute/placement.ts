import { indexIn, rangeAt } from '../../base/search.js'
import type { CommState } from '../../comm/comm-state.js'
import { type LocalRankTable, worldRanksOf } from '../../comm/table/rank-table.js'
import { type Machine, machineOfCores, nodeOf as nodesOfMachine } from '../../machine/machine.js'
import type { CachedPlan } from '../../neighborhood/plan/plan-cache.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { type SlotList, slotList } from '../memory/slot-list.js'

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

/** The program that a process runs for an operation other than the neighbor allgather. */
export class OperationProgram {
  readonly program: ProcessProgram
  /**
   * The block of its rank's send buffer that every contributed value is. Null if the values of a rank are its blocks,
   * in their order.
   */
  readonly ownSlot: Int32Array | null
  readonly slots: SlotList
  /**
   * The plan, retained for as long as the neighborhood, so that other processes of this address space find it. Null for
   * a part.
   */
  readonly plan: CachedPlan | null

  constructor(program: ProcessProgram, ownSlot: Int32Array | null, plan: CachedPlan | null) {
    this.program = program
    this.ownSlot = ownSlot
    this.slots = slotList(program)
    this.plan = plan
  }

  /** Returns the block in its rank's send buffer of a value that the i-th hosted rank contributes. */
  slotOf(i: number, value: number): number {
    return this.ownSlot === null ? value - this.program.ownStart[i] : this.ownSlot[value]
  }
}

// Rank r of the world is on core r of its machine. A rank of another communicator is on the core of its rank in the
// world.

/** The ranks of a communicator on a machine that has cores for them alone. */
export interface RanksOnMachine {
  readonly machine: Machine
  /** The core of every rank; null if rank r is on core r. */
  readonly slotOf: Int32Array | null
}

/**
 * Places the ranks of a communicator on the machine of their world.
 *
 * @param table the ranks in the world
 */
export function onWorldMachine(machine: Machine, table: LocalRankTable): RanksOnMachine {
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
