import { beforeAll, expect, it } from 'vitest'
import { describeMpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { compileProgram, compileShim, runPreloaded } from '../support/shim.js'
import { sampled } from '../support/soak.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const seeds = sampled(
  Array.from({ length: 16 }, (_, seed) => seed),
  3,
)
/** Settings in which blocks are copied, lent, sent for want of a place, and sent by their length. */
const settings = [
  {},
  { RANKWEAVE_SHIM: 'always' },
  { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_BLOCK_LIMIT: '0' },
  { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_BLOCK_LIMIT: '16', RANKWEAVE_SHIM_LENDS: '0' },
  { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_CORES: '2' },
] as const

describeMpi('calls of the preloaded library in flight', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('started')
  let library: string
  let stress: string

  beforeAll(() => {
    if (mpicc === null) return
    library = compileShim(folder(), mpicc).library
    stress = compileProgram(folder(), mpicc, 'stress', ['-pthread'])
  })

  it.skipIf(mpicc === null).each(seeds)(
    'receive what MPI alone gives, in whatever call they are completed: seed %i',
    async (seed) => {
      const args = [stress, ...[seed, 120, 1 + (seed % 2)].map(String)]
      const ranks = 2 + (seed % 4)
      const without = await runPreloaded(mpi, ranks, '', args)
      expect(without).toMatchObject({ code: 0, stdout: expect.stringMatching(/^right: [0-9a-f]{16}\n$/) })
      for (const env of settings) expect(await runPreloaded(mpi, ranks, library, args, env)).toEqual(without)
    },
  )
})
