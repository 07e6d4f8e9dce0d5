import type { CommState } from '../../comm/comm-state.js'
import { type Machine, nodeOf as nodesOfMachine } from '../../machine/machine.js'
import type { CachedPlan } from '../../neighborhood/plan/plan-cache.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { type SlotList, slotList } from '../memory/slot-list.js'
import { nodesOnWorldMachine } from './world-machine.js'

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
