import { indexIn, rangeAt } from '../../base/search.js'
import { type LocalRankTable, worldRanksOf } from '../../comm/table/rank-table.js'
import { type Machine, machineOfCores } from '../../machine/machine.js'

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
export function nodesOnWorldMachine(machine: Machine, table: LocalRankTable): Int32Array {
  return worldRanksOf(table).map((core) => rangeAt(machine.firstRank, core))
}
