import { writeFileSync } from 'node:fs'
import type { BenchOptions, Figure } from './bench.js'
import { BuiltPrograms } from './build-programs.js'
import { figuresOf, type Suite } from './comparison.js'
import { messageSizes, wholeSizes } from './message-plans.js'
import type { MpiName } from './mpi-library.js'
import { type Line, plotSizes } from './size-plot.js'

/**
 * Compiles the programs, measures the suites of one MPI after the other, and draws what was measured.
 *
 * @param mpis one null for suites that need no MPI
 */
export async function* measureSuites<Mpi extends MpiName | null>(
  mpis: readonly Mpi[],
  suitesOf: (built: BuiltPrograms, mpi: Mpi, sizes: readonly number[]) => readonly Suite[],
  lines: readonly Line[],
  options: BenchOptions,
): AsyncGenerator<Figure> {
  const { quick = false, sizes, plot } = options
  const messages = sizes === undefined ? messageSizes : wholeSizes(sizes)
  const built = new BuiltPrograms(mpis.filter((mpi) => mpi !== null))
  const figures: Figure[] = []
  try {
    for (const mpi of mpis) {
      const { version: peerVersion, said } = mpi === null ? noMpi : built.versionOf(mpi)
      console.error(`${said}${quick ? '; quick: figures are rough' : ''}`)
      for await (const measured of figuresOf(suitesOf(built, mpi, messages), options)) {
        const figure = { ...measured, peerVersion }
        figures.push(figure)
        yield figure
      }
    }
  } finally {
    built.close()
  }
  if (plot !== undefined) writeFileSync(plot, plotSizes(figures, lines))
}

const noMpi = { version: null, said: 'without MPI' } as const
