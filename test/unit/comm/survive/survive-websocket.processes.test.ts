import { run } from 'rankweave'
import { expect, it } from 'vitest'
import { compiledUrl } from '../../../support/compiled.js'

it('the Jacobi solver survives the loss of process 0 of a world over sockets', async () => {
  const results = await run<{ differing: number; recoveries: number; survivors: number } | null, string[]>(
    compiledUrl('jacobi-survivor-program.ts'),
    { ranks: 6, processes: 3, fabric: 'websocket', args: ['lose', '0'] },
  )
  expect(results.slice(0, 2)).toEqual([undefined, undefined])
  const solution = results.find((result) => result != null)
  expect(solution).toMatchObject({ differing: 0, recoveries: 1, survivors: 4 })
})
