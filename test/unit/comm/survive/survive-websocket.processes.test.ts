import { run } from 'rankweave'
import { expect, it } from 'vitest'
import { compiledUrl } from '../../../support/compiled.js'
import type { SurviveArgs, Survived } from '../../../support/survive-program.js'

it('survivors of process 0 of a world over sockets agree, shrink and continue', async () => {
  const results = await run<Survived | string | undefined, SurviveArgs>(compiledUrl('survive-program.ts'), {
    ranks: 6,
    processes: 3,
    fabric: 'websocket',
    args: { victim: 0, acknowledge: true },
  })
  expect(results.slice(0, 2)).toEqual([undefined, undefined])
  for (const result of results.slice(2)) {
    expect(result).toMatchObject({ failed: [0, 1], refused: 'ERR_PEER_LOST', flag: 7, ranks: [2, 3, 4, 5] })
  }
  const late = results.map((result) => (result as Survived | undefined)?.late)
  expect(late.slice(4)).toEqual(['', ''])
  for (const text of late.slice(2, 4)) {
    expect(text).toMatch(
      /^ERR_COLLECTIVE_MISMATCH: agree on .*: process 2 with .* has returned without calling it$/,
    )
  }
})
