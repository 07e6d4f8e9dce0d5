import { writeFileSync } from 'node:fs'
import type { Bench, Figure } from './bench.js'
import { BuiltPrograms } from './build-programs.js'
import { figuresOf } from './comparison.js'
import { messageSizes, wholeSizes } from './message-plans.js'
import type { MpiName } from './mpi-library.js'
import { mpiSuites } from './mpi-suites.js'
import { type Line, plotSizes } from './size-plot.js'

const names: readonly MpiName[] = ['Open MPI', 'MPICH']

const lines: readonly Line[] = [
  { name: 'Rankweave on Open MPI', color: '#c2410c', of: { mpi: 'Open MPI', against: 'C' }, side: 'ours' },
  { name: 'C on Open MPI', color: '#1d4ed8', of: { mpi: 'Open MPI', against: 'C' }, side: 'peer' },
  { name: 'koffi, Open MPI', color: '#64748b', of: { mpi: 'Open MPI', against: 'bare koffi' }, side: 'peer' },
  { name: 'Rankweave on MPICH', color: '#f59e0b', of: { mpi: 'MPICH', against: 'C' }, side: 'ours' },
  { name: 'C on MPICH', color: '#0891b2', of: { mpi: 'MPICH', against: 'C' }, side: 'peer' },
  { name: 'koffi, MPICH', color: '#a3a3a3', of: { mpi: 'MPICH', against: 'bare koffi' }, side: 'peer' },
]

/** Ranks on processes of an MPI job next to C on the same library, in turn, on the same machine. */
export const mpiBench: Bench = {
  name: 'mpi',
  question: 'How do ranks on MPI compare with C on the same library?',
  async *measure(options = {}) {
    const { quick = false, sizes, plot } = options
    const built = new BuiltPrograms(names)
    const figures: Figure[] = []
    const messages = sizes === undefined ? messageSizes : wholeSizes(sizes)
    try {
      for (const name of names) {
        const { version: peerVersion, said } = built.versionOf(name)
        console.error(`${said}${quick ? '; quick: figures are rough' : ''}`)
        for await (const measured of figuresOf(mpiSuites(built, name, messages), options)) {
          const figure = { ...measured, peerVersion }
          figures.push(figure)
          yield figure
        }
      }
    } finally {
      built.close()
    }
    if (plot !== undefined) writeFileSync(plot, plotSizes(figures, lines))
  },
}
