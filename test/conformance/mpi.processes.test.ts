import { local } from 'rankweave'
import { collectiveConformance, fabricConformance } from 'rankweave/conformance'
import { expect, it } from 'vitest'
import { describeMpi, program, runJob } from '../support/mpi.js'

describeMpi('fabric mpi: the contract, and collectives against their oracles', (mpi) => {
  it.each([
    { processes: 1, ranks: [3] },
    { processes: 2, ranks: [7] },
    { processes: 4, ranks: [4] },
  ])('$processes processes, $ranks ranks', async ({ processes, ranks }) => {
    const job = program('mpi-conformance.ts', ...ranks.map(String))
    const { code, stdout, stderr } = await runJob(mpi, processes, job)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const cases = [
      fabricConformance(local({ processes })),
      ...ranks.map((count) =>
        collectiveConformance(local({ processes }), { ranks: count, sharedWorlds: true }),
      ),
    ]
    expect(stdout.trim().split('\n')).toEqual(cases.flat().map(({ name }) => `passed: ${name}`))
  })
})

describeMpi('what MPI itself does', (mpi) => {
  it('510 random splits, grids and graphs: the same members, ranks and data', async () => {
    const { code, stdout, stderr } = await runJob(mpi, 4, program('mpi-against.ts', '1', '510'))
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '510 cases agree\n', stderr: '' })
  })
})
