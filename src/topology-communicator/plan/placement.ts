import { indexIn, rangeAt } from '../../base/search.js'
import type { CommState } from '../../comm/comm-state.js'
import { type LocalRankTable, worldRanksOf } from '../../comm/table/rank-table.js'
import { type Machine, machineOfCores, nodeOf as nodesOfMachine } from '../../machine/machine.js'

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
