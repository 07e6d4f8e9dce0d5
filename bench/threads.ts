import { writeFileSync } from 'node:fs'
import type { Bench, Figure } from './bench.js'
import { BuiltPrograms } from './build-programs.js'
import { figuresOf } from './comparison.js'
import { messageSizes, wholeSizes } from './message-plans.js'
import { type Line, plotSizes } from './size-plot.js'
import { threadsSuites } from './threads-suites.js'

const lines: readonly Line[] = [
  { name: 'Rankweave, ordinary arrays', color: '#c2410c', of: { memory: 'ordinary' }, side: 'ours' },
  { name: 'Rankweave, world.alloc()', color: '#7c3aed', of: { memory: 'alloc' }, side: 'ours' },
  { name: 'C on Open MPI', color: '#1d4ed8', of: { memory: 'ordinary' }, side: 'peer' },
]

/** Ranks on worker threads next to C on Open MPI, in turn, on the same machine. */
export const threadsBench: Bench = {
  name: 'threads',
  question: 'How do ranks on threads compare with C on Open MPI?',
  async *measure(options = {}) {
    const { quick = false, sizes, plot } = options
    const built = new BuiltPrograms(['Open MPI'])
    const figures: Figure[] = []
    try {
      const { version: peerVersion, said } = built.versionOf('Open MPI')
      console.error(`${said}${quick ? '; quick: figures are rough' : ''}`)
      const messages = sizes === undefined ? messageSizes : wholeSizes(sizes)
      for await (const measured of figuresOf(threadsSuites(built, messages), options)) {
        const figure = { ...measured, peerVersion }
        figures.push(figure)
        yield figure
      }
    } finally {
      built.close()
    }
    if (plot !== undefined) writeFileSync(plot, plotSizes(figures, lines))
  },
}
