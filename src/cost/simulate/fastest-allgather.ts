import { algorithms } from '../../collective/algorithms.js'
import { scheduleOf } from '../../collective/patterns/schedule-size.js'
import type { Machine } from '../../machine/machine.js'
import { simulate } from './simulate.js'
import type { Simulation } from './simulation.js'

/** Ranks beyond which an allgather is not simulated: it has ranks * ranks blocks. */
export const mostAllgatherRanks = 1024

/** Algorithms that send ranks * ranks messages, and the ranks beyond which they are left out. */
const quadratic: readonly string[] = ['allgather-linear', 'allgather-ring', 'allgather-bucket']
const mostQuadraticRanks = 256

/** An allgather of equal blocks by one of its algorithms, simulated. */
export interface SimulatedAllgather {
  readonly algorithm: string
  readonly simulation: Simulation
}

/**
 * The ordinary allgather that neighbor allgathers are compared with: by the algorithm that is fastest on a
 * machine with one rank per core. Up to 256 ranks all algorithms are simulated, beyond that those with lg P
 * steps.
 *
 * @param ranks at most {@link mostAllgatherRanks}
 * @param bytes of every block
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than ranks
 */
export function fastestAllgather(ranks: number, machine: Machine, bytes: number): SimulatedAllgather {
  const shape = { ranks, root: 0, segments: 1 }
  return algorithms
    .filter(
      ({ id, collective, refuses }) =>
        collective === 'allgather' &&
        (refuses?.(shape) ?? null) === null &&
        (ranks <= mostQuadraticRanks || !quadratic.includes(id)),
    )
    .map((algorithm) => ({
      algorithm: algorithm.id,
      simulation: simulate(scheduleOf(algorithm, { ranks }), machine, { bytes }),
    }))
    .reduce((best, each) => (each.simulation.timeUs < best.simulation.timeUs ? each : best))
}
