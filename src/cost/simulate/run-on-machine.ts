import type { Machine } from '../../machine/machine.js'
import { networkOf, profileOf } from '../../machine/network.js'
import type { RunRecord } from './activities.js'
import type { Costs, ProcessPlaces } from './costs.js'
import { FramePaths } from './frame-paths.js'
import type { FrameTable } from './frame-table.js'
import { type FrameStart, SimulatedRun, type WaitingProgram } from './run.js'

/**
 * What every simulation is, with a schedule or without: frames on the links of a machine.
 * @throws ERR_SIMULATION when processes wait for each other
 */
export function runOnMachine(
  machine: Machine,
  places: ProcessPlaces,
  frames: FrameTable,
  costs: Costs,
  programs: readonly WaitingProgram[],
  progress: FrameStart,
): RunRecord {
  const { eagerLimitBytes } = profileOf(machine)
  const paths = new FramePaths(networkOf(machine), frames, costs, places)
  const log = new SimulatedRun(frames, programs, { paths, costs, eagerLimitBytes, progress }).toEnd()
  return { frames, costs, paths, log, eagerLimitBytes }
}
