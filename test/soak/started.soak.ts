import { expect, it } from 'vitest'
import { describeShim } from '../support/shim.js'
import { sampled } from '../support/soak.js'

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

describeShim('calls of the preloaded library in flight', (shim) => {
  it.each(seeds)(
    'receive what MPI alone gives, in whatever call they are completed: seed %i',
    async (seed) => {
      const command = [shim.program('stress'), ...[seed, 120, 1 + (seed % 2)].map(String)]
      const ranks = 2 + (seed % 4)
      const without = await shim.start(ranks, command, {}, [])
      expect(without).toMatchObject({ code: 0, stdout: expect.stringMatching(/^right: [0-9a-f]{16}\n$/) })
      for (const env of settings) expect(await shim.start(ranks, command, env)).toEqual(without)
    },
  )
})
