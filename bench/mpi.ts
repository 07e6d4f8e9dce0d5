import type { Bench } from './bench.js'
import { measureSuites } from './measure-suites.js'
import { mpiSuites } from './mpi-suites.js'
import type { Line } from './size-plot.js'

const lines: readonly Line[] = [
  { name: 'Rankweave on Open MPI', color: '#c2410c', of: { mpi: 'Open MPI', against: 'C' }, side: 'ours' },
  { name: 'C on Open MPI', color: '#1d4ed8', of: { mpi: 'Open MPI', against: 'C' }, side: 'peer' },
  { name: 'koffi, Open MPI', color: '#64748b', of: { mpi: 'Open MPI', against: 'bare koffi' }, side: 'peer' },
  { name: 'Rankweave on MPICH', color: '#f59e0b', of: { mpi: 'MPICH', against: 'C' }, side: 'ours' },
  { name: 'C on MPICH', color: '#0891b2', of: { mpi: 'MPICH', against: 'C' }, side: 'peer' },
  { name: 'koffi, MPICH', color: '#a3a3a3', of: { mpi: 'MPICH', against: 'bare koffi' }, side: 'peer' },
]

/** Ranks on processes of an MPI job compared with C on the same library, alternating on the same machine. */
export const mpiBench: Bench = {
  name: 'mpi',
  question: 'How do ranks on MPI compare with C on the same library?',
  measure: (options = {}) => measureSuites(['Open MPI', 'MPICH'], mpiSuites, lines, options),
}
