import { local } from 'rankweave'
import { collectiveConformance, fabricConformance } from 'rankweave/conformance'
import { expect, it } from 'vitest'
import { describeMpi, program, runJob } from '../support/mpi.js'
import { daily, isSoak, perTier } from '../support/soak.js'

describeMpi('fabric mpi passes fabricConformance and collectiveConformance', (mpi) => {
  const layouts = [
    { processes: 1, ranks: [3] },
    { processes: 2, ranks: [7] },
    { processes: 4, ranks: [4] },
  ]
  // In longer runs with all cases.
  const taken = perTier(
    mpi.name === 'MPICH'
      ? { test: [1], soak: [2], long: [1, 2, 4] }
      : { test: [2], soak: [4], long: [1, 2, 4] },
  )
  it.each(layouts.filter(({ processes }) => taken.includes(processes)))(
    'on $processes processes with $ranks ranks',
    async ({ processes, ranks }) => {
      const job = program('mpi-conformance.ts', isSoak ? '1/1' : '1/3', ...ranks.map(String))
      const { code, stdout, stderr } = await runJob(mpi, processes, job)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const cases = [
        fabricConformance(local({ processes })),
        ...ranks.map((count) =>
          collectiveConformance(local({ processes }), { ranks: count, sharedWorlds: true }),
        ),
      ]
      expect(stdout.trim().split('\n')).toEqual(daily(cases.flat(), 3).map(({ name }) => `passed: ${name}`))
    },
  )
})

describeMpi('communicators compared with those of the MPI library', (mpi) => {
  // Blocking calls of MPICH spin, which takes four processes on two cores eight times as long. More in
  // test/soak.
  const count = mpi.name === 'MPICH' ? 32 : 128
  it(`have the same members, ranks and data for ${count} random splits, grids and graphs`, async () => {
    const { code, stdout, stderr } = await runJob(mpi, 4, program('mpi-against.ts', '1', String(count)))
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${count} cases agree\n`, stderr: '' })
  })
})
