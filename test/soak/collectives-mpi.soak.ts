import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectedTotals, walks } from '../support/collective-walk.js'
import { describeMpi, program, runJob } from '../support/mpi.js'
import { compilerOf, ResultsOfMpi } from '../support/mpi-collectives.js'
import { sampled } from '../support/soak.js'

describeMpi('every algorithm', (mpi) => {
  const mpicc = compilerOf(mpi)
  let results: ResultsOfMpi | undefined

  beforeAll(async () => {
    if (mpicc !== null) results = await ResultsOfMpi.of(mpi, mpicc, 33)
  })
  afterAll(() => results?.remove())

  it.each(sampled(walks, 3).map((walk) => [walk.processes, walk.mostRanks, walk.order, walk] as const))(
    `on %i processes and 1 to %i ranks in %s equals the oracle${mpicc === null ? '' : ` and ${mpi.name}`}`,
    async (processes, _most, _order, walk) => {
      const folder = results === undefined ? [] : [results.folder]
      const args = program('mpi-collective-walk.ts', JSON.stringify(walk), ...folder)
      const { code, stdout, stderr } = await runJob(mpi, processes, args)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const expected = expectedTotals(walk)
      const compared = results === undefined ? 0 : expected.compared
      expect(JSON.parse(stdout)).toEqual({ ...expected, compared })
    },
  )
})
