import { algorithms } from '../../collective/algorithms.js'
import { scheduleOf } from '../../collective/patterns/schedule-of.js'
import type { Machine } from '../../machine/machine.js'
import { simulate } from './simulate.js'
import type { Simulation } from './simulation.js'

/** The most ranks for which an allgather is simulated: it has ranks * ranks blocks. */
export const mostAllgatherRanks = 1024

/** The algorithms that send ranks * ranks messages, and the most ranks for which they are simulated. */
const quadratic: readonly string[] = ['allgather-linear', 'allgather-ring', 'allgather-bucket']
const mostQuadraticRanks = 256

interface SimulatedAllgather {
  readonly algorithm: string
  readonly simulation: Simulation
}

/**
 * Returns the ordinary allgather that neighbor allgathers are compared with: the algorithm that is fastest on a machine
 * with one rank per core. Up to 256 ranks all algorithms are simulated, beyond that those with lg P steps.
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
