import type { Bench, BenchOptions, Figure } from './bench.js'
import { BuiltPrograms } from './build-programs.js'
import { measureSuites } from './measure-suites.js'
import type { MpiName } from './mpi-library.js'
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
  measure: measureThreads,
}

/** With option `before`, the whole command of a split in turns with that of a commit. */
async function* measureThreads(options: BenchOptions = {}): AsyncGenerator<Figure> {
  const { before: commit } = options
  const older = commit === undefined ? undefined : { built: new BuiltPrograms([], commit), commit }
  try {
    const suites = (built: BuiltPrograms, _: MpiName, sizes: readonly number[]) =>
      threadsSuites(built, sizes, older)
    yield* measureSuites<MpiName>(['Open MPI'], suites, lines, options)
  } finally {
    older?.built.close()
  }
}
