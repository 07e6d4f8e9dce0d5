import { rangeAt } from '../../base/search.js'
import type { CommState } from '../../comm/context/comm-state.js'
import { type Machine, nodeOf as nodesOfMachine } from '../../machine/machine.js'

/** Process index of every rank of a communicator. */
export function placementOf({ size, processes: { runStart, runProcess } }: CommState): Int32Array {
  const placement = new Int32Array(size)
  for (let run = 0; run < runProcess.length; run++) {
    placement.fill(runProcess[run], runStart[run], runStart[run + 1])
  }
  return placement
}

/** Process index of one rank of a communicator. */
export function processIndexOf({ processes: { runStart, runProcess } }: CommState, rank: number): number {
  return runProcess[rangeAt(runStart, rank)]
}

/** Node of one rank: that of the machine, or of the process that hosts it. */
export function nodeIndexOf(state: CommState, machine: Machine | undefined, rank: number): number {
  if (machine !== undefined) return rangeAt(machine.firstRank, rank)
  const { processes } = state.processes
  return state.runtime.layout.nodeOfProcess[processes.at(processIndexOf(state, rank))]
}

/** Node of every rank: that of the machine, or of the process that hosts it. */
export function nodesOf(state: CommState, machine: Machine | undefined, placement: Int32Array): Int32Array {
  if (machine !== undefined) return nodesOfMachine(machine, state.size)
  return placement.map((index) => state.runtime.layout.nodeOfProcess[state.processes.processes.at(index)])
}
