import fc from 'fast-check'
import { expect, it } from 'vitest'
import { comparedSettings, scheduleOfText } from '../../bench/exported.js'
import { algorithms } from '../../src/collective/algorithms.js'
import { textOfTuned, tunedParameters } from '../../src/collective/open-mpi-settings.js'
import type { Algorithm } from '../../src/collective/patterns/algorithm.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-size.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { parseStrategy } from '../../src/neighborhood/strategies/strategy-text.js'
import { smallTopologies } from '../property/random-topology.js'
import { variants } from '../support/algorithm-checks.js'
import { compileExported } from '../support/exported-c.js'
import { describeMpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { withWaits } from '../support/random-waits.js'
import { chooseBy } from '../support/schedule-faults.js'
import { demanded, inTurn, tier } from '../support/soak.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const strategies = ['direct', 'common-neighbor', 'routed', 'allgather', 'descending', 'lanes', 'hierarchical']
const lengths = ['0', '4', '20000', '32768']
const operations = ['neighbor-allgather', 'neighbor-alltoall', 'neighbor-reduce'] as const
const graphs = fc
  .sample(smallTopologies(8), { seed: 15, numRuns: 300 })
  .filter(({ topology }) => topology.ranks <= 8)
  .slice(0, demanded(30, 7))
const nodesOf = (ranks: number) => Int32Array.from({ length: ranks }, (_, rank) => Math.floor(rank / 3))

/** A number of ranks that an algorithm serves: no power of two if it can. */
const ranksFor = ({ refuses }: Algorithm): number =>
  [6, 8, 2].find((ranks) => (refuses?.({ ranks }) ?? null) === null)!

describeMpi('exported C programs', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('export')

  it.skipIf(mpicc === null).each(graphs.map(({ what, topology }, i) => [what, topology, i] as const))(
    'of %s give the data of the specification',
    async (_, topology, i) => {
      const strategy = parseStrategy(strategies[i % strategies.length])
      const operation = operations[i % operations.length]
      const { schedule } = plan(topology, strategy, { operation, nodeOf: nodesOf(topology.ranks) })
      const run = compileExported(mpicc!, mpi, folder(), schedule)
      const { code, stderr } = await run('-b', lengths[i % lengths.length], '-n', '1', '-s', '1')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    },
  )

  // Half of them on either library: each program is compiled, which takes longer than to run it.
  const half = (all: readonly Algorithm[]) => all.filter((_, i) => i % 2 === (mpi.name === 'MPICH' ? 1 : 0))
  const some = inTurn(half(algorithms), 3)
  const every = tier === 'long' ? variants : some
  it.skipIf(mpicc === null).each(every.map((algorithm, i) => [algorithm.id, algorithm, i] as const))(
    'of %s sum exactly, beside the library',
    async (_, algorithm, i) => {
      const schedule = scheduleOf(algorithm, { ranks: ranksFor(algorithm), segments: 1 })
      const run = compileExported(mpicc!, mpi, folder(), schedule)
      const { code, stderr, stdout } = await run('-b', i % 2 === 0 ? '4' : '20000', '-n', '1', '-s', '1')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(
        /data as expected, also by the library's own call\nplan .*\nlibrary .* its own call/,
      )
    },
  )

  it.skipIf(mpicc === null).each(some.map((algorithm, i) => [algorithm.id, algorithm, i] as const))(
    'of %s sum exactly when messages wait at random',
    async (_, algorithm, i) => {
      const schedule = scheduleOf(algorithm, { ranks: ranksFor(algorithm), segments: 2 })
      const run = compileExported(mpicc!, mpi, folder(), withWaits(schedule, chooseBy(i)))
      const { code, stderr } = await run('-b', i % 2 === 0 ? '20000' : '4', '-n', '1', '-s', '2')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    },
  )

  // The program compares both results with what they must be.
  const forced = mpi.name === 'Open MPI' ? comparedSettings : []
  it.skipIf(mpicc === null).each(forced.map((setting) => [textOfTuned(setting), setting] as const))(
    'of %s give what the algorithm of the same name gives',
    async (text, setting) => {
      const schedule = scheduleOfText(text, 16, 65536)
      const env = Object.fromEntries(
        Object.entries(tunedParameters(setting)).map(([name, value]) => [`OMPI_MCA_${name}`, value]),
      )
      const run = compileExported(mpicc!, mpi, folder(), schedule, undefined, env)
      const { code, stdout, stderr } = await run('-b', '65536', '-n', '0')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain("also by the library's own call")
    },
  )
})
