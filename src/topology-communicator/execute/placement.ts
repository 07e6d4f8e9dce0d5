import type { CommState } from '../../comm/comm-state.js'
import { type Machine, nodeOf as nodesOfMachine } from '../../machine/machine.js'

/** Process index of every rank of a communicator. */
export function placementOf({ size, processes: { runStart, runProcess } }: CommState): Int32Array {
  const placement = new Int32Array(size)
  for (let run = 0; run < runProcess.length; run++) {
    placement.fill(runProcess[run], runStart[run], runStart[run + 1])
  }
  return placement
}

/** Node of every rank: that of the machine, or of the process that hosts it. */
export function nodesInCommunicator(
  state: CommState,
  machine: Machine | undefined,
  placement: Int32Array,
): Int32Array {
  if (machine !== undefined) return nodesOfMachine(machine, state.size)
  return placement.map((index) => state.runtime.layout.nodeOfProcess[state.processes.processes.at(index)])
}
