import type { Collective } from '../../schedule/specification.js'
import type { SimulatedApplication, SimulatedPlace } from './simulated-application.js'

const places: readonly SimulatedPlace[] = [4, 8, 16, 32].flatMap((nodes) =>
  [1, 32].map((processesPerNode) => ({ nodes, processesPerNode })),
)

type CallRow = readonly [collective: Collective, bytes: number, weight: number]

function application(name: string, rows: readonly CallRow[]): SimulatedApplication {
  return { name, places, calls: rows.map(([collective, bytes, weight]) => ({ collective, bytes, weight })) }
}

/**
 * Applications of four kinds, on 4, 8, 16 and 32 nodes with 1 and 32 processes each. Their collectives follow table 5.3
 * of the source; lengths and weights are this library's.
 *
 * | name | like | calls |
 * |---|---|---|
 * | `refinement` | miniAMR | allreduce of 8 B to 10 KiB, few bcast and allgather |
 * | `transform` | SWFFT | alltoall of 1 to 64 KiB, allreduce of 8 B |
 * | `graph` | miniVite | alltoall of 128 B to 4 KiB, allreduce of 8 B, bcast of 1 MiB |
 * | `solver` | Nekbone | allreduce of 8 and 24 B, bcast of 64 KiB, allgather of 2 KiB |
 *
 * @see Steiner 2023 §5.3, §5.4.7, appendix B
 */
export const simulatedApplications: readonly SimulatedApplication[] = [
  application('refinement', [
    ['allreduce', 8, 60],
    ['allreduce', 16, 15],
    ['allreduce', 64, 8],
    ['allreduce', 1024, 5],
    ['allreduce', 10_240, 6],
    ['bcast', 4096, 2],
    ['allgather', 8, 4],
  ]),
  application('transform', [
    ['alltoall', 1024, 30],
    ['alltoall', 8192, 20],
    ['alltoall', 65_536, 10],
    ['allreduce', 8, 40],
  ]),
  application('graph', [
    ['alltoall', 128, 40],
    ['alltoall', 4096, 30],
    ['allreduce', 8, 20],
    ['bcast', 2 ** 20, 10],
  ]),
  application('solver', [
    ['allreduce', 8, 60],
    ['allreduce', 24, 20],
    ['bcast', 65_536, 10],
    ['allgather', 2048, 10],
  ]),
]

/** The collectives that simulated applications call. */
export const simulatedCollectives: readonly Collective[] = ['allreduce', 'bcast', 'allgather', 'alltoall']

/** A network of 10 GB/s and 1.5 us, and memory of 20 GB/s. */
export const simulatedLevels = {
  network: {
    model: 'loggp',
    ...{ latencyNs: 1500, overheadNs: 400, gapNs: 700, nsPerByte: 0.1, reduceNsPerByte: 0.1 },
  },
  memory: {
    model: 'loggp',
    ...{ latencyNs: 300, overheadNs: 100, gapNs: 200, nsPerByte: 0.05, reduceNsPerByte: 0.1 },
  },
} as const
