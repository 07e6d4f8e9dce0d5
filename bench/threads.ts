import type { Bench } from './bench.js'
import { measureSuites } from './measure-suites.js'
import type { Line } from './size-plot.js'
import { threadsSuites } from './threads-suites.js'

const lines: readonly Line[] = [
  { name: 'Rankweave, ordinary arrays', color: '#c2410c', of: { memory: 'ordinary' }, side: 'ours' },
  { name: 'Rankweave, world.alloc()', color: '#7c3aed', of: { memory: 'alloc' }, side: 'ours' },
  { name: 'C on Open MPI', color: '#1d4ed8', of: { memory: 'ordinary' }, side: 'peer' },
]

/** Ranks on worker threads compared with C on Open MPI, alternating on the same machine. */
export const threadsBench: Bench = {
  name: 'threads',
  question: 'How do ranks on threads compare with C on Open MPI?',
  measure: (options = {}) =>
    measureSuites(['Open MPI'], (built, _, sizes) => threadsSuites(built, sizes), lines, options),
}
