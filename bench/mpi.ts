import { writeFileSync } from 'node:fs'
import type { Bench, Figure } from './bench.js'
import { figuresOf } from './contest.js'
import { wholeSizes } from './message-plans.js'
import { mpiSuites } from './mpi-suites.js'
import type { MpiName } from './peer-mpi.js'
import { type Line, plotSizes } from './size-plot.js'
import { Workshop } from './workshop.js'

/** One per factor of eight, and those around the eager limits. */
const defaultSizes = [
  8,
  64,
  512,
  4096,
  2 ** 14,
  2 ** 15,
  2 ** 16,
  2 ** 17,
  2 ** 18,
  2 ** 20,
  2 ** 22,
  2 ** 24,
]

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
    const shop = new Workshop(names)
    const figures: Figure[] = []
    const messages = sizes === undefined ? defaultSizes : wholeSizes(sizes)
    try {
      for (const name of names) {
        const { version: peerVersion, said } = shop.versionOf(name)
        console.error(`${said}${quick ? '; quick: figures are rough' : ''}`)
        for await (const measured of figuresOf(mpiSuites(shop, name, messages), options)) {
          const figure = { ...measured, peerVersion }
          figures.push(figure)
          yield figure
        }
      }
    } finally {
      shop.close()
    }
    if (plot !== undefined) writeFileSync(plot, plotSizes(figures, lines))
  },
}
