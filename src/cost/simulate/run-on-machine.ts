import type { Machine } from '../../machine/machine.js'
import { networkOf, profileOf } from '../../machine/network.js'
import { portsOf } from '../../machine/nodes.js'
import type { RunRecord } from './activities.js'
import type { Costs, ProcessPlaces } from './costs.js'
import { FramePaths } from './frame-paths.js'
import type { FrameTable } from './frame-table.js'
import { NodePorts } from './node-ports.js'
import { QueueSearches } from './queue-searches.js'
import { type FrameStart, SimulatedRun, type WaitingProgram } from './run.js'

/**
 * Runs frames on the links of a machine, as every simulation does, with a schedule or without.
 *
 * @returns null if it takes longer than `limitNs`
 * @throws ERR_SIMULATION when processes wait for each other
 */
export function runOnMachine(
  machine: Machine,
  places: ProcessPlaces,
  frames: FrameTable,
  costs: Costs,
  programs: readonly WaitingProgram[],
  progress: FrameStart,
  limitNs: number,
): RunRecord | null {
  const { eagerLimitBytes, matchNsPerEntry = 0 } = profileOf(machine)
  const paths = new FramePaths(networkOf(machine), frames, costs, places)
  const searches = matchNsPerEntry === 0 ? null : new QueueSearches(frames, matchNsPerEntry)
  const limit = portsOf(machine)
  const nodes = machine.cores.length
  const ports = Number.isFinite(limit) ? new NodePorts(frames, places.node, nodes, limit) : null
  const setting = { paths, costs, ports, eagerLimitBytes, progress, searches }
  const log = new SimulatedRun(frames, programs, setting).toEnd(limitNs)
  if (log === null) return null
  return { frames, costs, paths, log, eagerLimitBytes, searches }
}
