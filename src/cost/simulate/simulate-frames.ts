import { checkMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { noGates } from '../../schedule/lower/gates.js'
import { blockCopyNs, costsOfFrames, placesOf } from './costs.js'
import { frameTableOfRanks, type RankFrames } from './frame-table.js'
import type { WaitingProgram } from './run.js'
import { runOnMachine } from './run-on-machine.js'
import type { Simulation } from './simulation.js'
import { trafficOfFrames } from './traffic.js'

/**
 * The frames that ranks exchange, one rank per process, without a schedule. Blocks are of equal length, and frames wait
 * for others.
 */
export interface FrameGraph extends RankFrames {
  /** The frames that bring the data of frame f to its sender, each once: `bringer[bringerStart[f]]` up to the next. */
  readonly bringerStart: Int32Array
  readonly bringer: Int32Array
  /** The number of slots that each rank fills by copying, after everything else. */
  readonly copies: Int32Array
}

/**
 * Returns what `simulate` returns for the schedule that has these frames, in a fraction of the time: it neither makes
 * nor lowers a schedule. Times are the same to the last bit if no slot is copied; otherwise they differ by rounding.
 *
 * @throws ERR_SIMULATION, ERR_MACHINE as `simulate`
 */
export function simulateFrames(
  graph: FrameGraph,
  machine: Machine,
  blockBytes: number,
): Pick<Simulation, 'timeUs' | 'endUs' | 'traffic' | 'matching'> {
  checkMachine(machine)
  const profile = profileOf(machine)
  const frames = frameTableOfRanks(graph, blockBytes)
  const places = placesOf(machine, frames.processes)
  const costs = {
    ...costsOfFrames(frames, profile, places),
    combineNs: new Float64Array(0),
    copyNs: Float64Array.from(graph.copies, (count) => count * blockCopyNs(profile, blockBytes)),
  }
  const programs = waitingOf(graph, frames)
  const { log, searches } = runOnMachine(
    machine,
    places,
    frames,
    costs,
    programs,
    'dependencies',
    Number.POSITIVE_INFINITY,
  )!
  const { last, endNs } = log
  const endUs = Float64Array.from(last, (job) => (job === -1 ? 0 : endNs[job] / 1000))
  const timeUs = endUs.reduce((latest, us) => Math.max(latest, us), 0)
  const matching = searches?.report() ?? null
  return { timeUs, endUs, traffic: trafficOfFrames(frames, costs), matching }
}

/** Returns the frames of each rank that wait, and the receives that they wait for. */
function waitingOf(
  { sendStart, bringerStart, bringer }: FrameGraph,
  { receiveOf, receiveStart, from, processes }: ReturnType<typeof frameTableOfRanks>,
): WaitingProgram[] {
  const frames = from.length
  const needs = Int32Array.from(
    { length: frames },
    (_, frame) => bringerStart[frame + 1] - bringerStart[frame],
  )
  const useStart = new Int32Array(frames + 1)
  for (const brought of bringer) useStart[receiveOf[brought] + 1]++
  for (let position = 0; position < frames; position++) useStart[position + 1] += useStart[position]
  const next = useStart.slice()
  const use = new Int32Array(bringer.length)
  for (let frame = 0; frame < frames; frame++) {
    for (let i = bringerStart[frame]; i < bringerStart[frame + 1]; i++)
      use[next[receiveOf[bringer[i]]]++] = frame - sendStart[from[frame]]
  }
  return Array.from({ length: processes }, (_, p) => ({
    gates: noGates,
    dependencies: {
      needs: needs.subarray(sendStart[p], sendStart[p + 1]),
      useStart: useStart.subarray(receiveStart[p], receiveStart[p + 1] + 1),
      use,
    },
  }))
}
