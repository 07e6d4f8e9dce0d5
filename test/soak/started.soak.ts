import { expect, it } from 'vitest'
import { describeShim } from '../support/shim.js'
import { sampled, tier } from '../support/soak.js'

const seeds = sampled(
  Array.from({ length: 16 }, (_, seed) => seed),
  3,
)
/** Settings in which blocks are copied, lent, sent for want of a place, and sent by their length. */
const settings = [
  {},
  { RANKWEAVE_SHIM: 'always' },
  { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_REGION: '262144' },
  { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_BLOCK_LIMIT: '0' },
  { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_BLOCK_LIMIT: '16', RANKWEAVE_SHIM_LENDS: '0' },
  { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_CORES: '2' },
]

describeShim('calls of the preloaded library in flight', (shim) => {
  // Processes of MPICH keep their cores.
  const rounds = shim.mpi.name === 'MPICH' && tier !== 'long' ? 40 : 120

  it.each([
    [2, ''],
    [3, ' threads'],
    [4, ''],
    [5, ' threads'],
  ])(
    'receive what MPI alone gives, in whatever call they are completed, on %i ranks%s',
    async (ranks, threads) => {
      const own = seeds.filter((seed) => 2 + (seed % 4) === ranks)
      const cases = own.map((seed) => `stress ${seed} ${rounds}${threads}`)
      const without = await shim.start(ranks, shim.caseCommand(...cases), {}, [])
      const lines = cases.map((text) => `sum [0-9a-f]{16}\\n${text}: right\\n`).join('')
      expect(without).toMatchObject({ code: 0, stdout: expect.stringMatching(new RegExp(`^${lines}$`)) })
      for (const env of settings) expect(await shim.run(ranks, cases, env)).toEqual(without)
    },
  )
})
