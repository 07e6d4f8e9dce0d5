import { run } from 'rankweave'
import { expect, it } from 'vitest'
import { compiledUrl } from '../support/compiled.js'

/** Each process in turn; `test/unit/comm/survive` loses one worker. */
it.each(['websocket', 'threads'] as const)('the Jacobi solver survives any loss on %s', async (fabric) => {
  for (const lost of ['0', '1', '2']) {
    const results = await run<{ differing: number; recoveries: number; survivors: number } | null, string[]>(
      compiledUrl('jacobi-survivor-program.ts'),
      { ranks: 6, processes: 3, fabric, args: ['lose', lost] },
    )
    const solution = results.find((result) => result != null)
    expect(solution).toMatchObject({ differing: 0, recoveries: 1, survivors: 4 })
  }
})
