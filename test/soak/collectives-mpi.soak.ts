import { afterAll, beforeAll, expect, it } from 'vitest'
import { drawnWalk, expectedTotals, walks } from '../support/collective-walk.js'
import { describeMpiInTurn, type Mpi, program, runJob } from '../support/mpi.js'
import { compilerOf, ResultsOfMpi } from '../support/mpi-collectives.js'
import { tier } from '../support/soak.js'
import type { Walk } from '../support/walked-calls.js'

describeMpiInTurn('every algorithm', (mpi) => {
  const mpicc = compilerOf(mpi)
  let results: ResultsOfMpi | undefined

  beforeAll(async () => {
    if (mpicc !== null) results = await ResultsOfMpi.of(mpi, mpicc, 33)
  })
  afterAll(() => results?.remove())

  // Blocks of ranks are walked on other fabrics in `soak`, on MPI in `soak:long`.
  const taken = walks.filter(({ order }) => tier === 'long' || order === 'dealt')

  it.each(taken.map((walk) => [walk.processes, walk.mostRanks, walk.order, walk] as const))(
    `on %i processes and 1 to %i ranks in %s equals the oracle${mpicc === null ? '' : ` and ${mpi.name}`}`,
    async (_processes, _most, _order, walk) => {
      const expected = expectedTotals(walk)
      const compared = results === undefined ? 0 : expected.compared
      expect(await walked(mpi, walk, results?.folder)).toEqual({ ...expected, compared })
    },
  )

  // Waiting processes of MPICH do not give up their core.
  const processes = tier === 'long' ? 9 : 5
  it(`on ${processes} processes equals the oracle in calls drawn from all there are`, async () => {
    const walk = drawnWalk(processes)
    expect(await walked(mpi, walk)).toEqual({ ...expectedTotals(walk), compared: 0 })
  })
})

/** @param folder results of the library, with which those of the walk are compared */
async function walked(mpi: Mpi, walk: Walk, folder?: string): Promise<unknown> {
  const more = folder === undefined ? [] : [folder]
  const args = program('mpi-collective-walk.ts', JSON.stringify(walk), ...more)
  const { code, stdout, stderr } = await runJob(mpi, walk.processes, args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}
