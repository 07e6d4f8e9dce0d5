import { run, threads } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../../../support/compiled.js'
import { refusal } from '../../../support/refusal.js'
import type { SurviveArgs, Survived } from '../../../support/survive-program.js'

const program = compiledUrl('survive-program.ts')

/** Three workers with two ranks each; one of them ends itself. */
const surviving = (args: SurviveArgs) =>
  run<Survived | string | undefined, SurviveArgs>(program, {
    ranks: 6,
    fabric: threads({ processes: 3 }),
    args,
  })

describe('survivors of a lost worker', () => {
  it.each([0, 1])('agree, shrink and continue without process %i', async (victim) => {
    const results = await surviving({ victim, acknowledge: true })
    const living = [0, 1, 2, 3, 4, 5].filter((rank) => rank >> 1 !== victim)
    const flag = victim === 0 ? 7 : 6
    const expected = {
      met: 'ERR_PEER_LOST',
      failed: [2 * victim, 2 * victim + 1],
      refused: 'ERR_PEER_LOST',
      refusedFlag: flag,
      flag,
      size: 4,
      ranks: living,
    }
    const late = expect.stringMatching(
      /^ERR_COLLECTIVE_MISMATCH: agree on .* of 4 ranks: process 2 with .* has returned without calling it$/,
    )
    // `revoke` of a rank that was faster may arrive before the loss.
    const seen = results.map((result) =>
      result === undefined ? undefined : { ...(result as Survived), met: 'ERR_PEER_LOST' },
    )
    expect(seen).toEqual(
      [0, 1, 2, 3, 4, 5].map((rank) =>
        rank >> 1 === victim ? undefined : { ...expected, late: rank < 4 ? late : '' },
      ),
    )
    for (const result of results) {
      if (result !== undefined) expect(['ERR_PEER_LOST', 'ERR_REVOKED']).toContain((result as Survived).met)
    }
  })

  it('fail the world when they do not acknowledge it', async () => {
    await expect(surviving({ victim: 0, acknowledge: false })).rejects.toMatchObject(
      refusal('ERR_PEER_LOST', 'process 0 with ranks 0-1 is lost'),
    )
  })

  it('report an error that comes after a loss they have survived', async () => {
    await expect(surviving({ victim: 1, acknowledge: true, fail: true })).rejects.toThrow('another matter')
  })

  it('finish the Jacobi solver with the bits of the serial one', async () => {
    const results = await run<{ differing: number; recoveries: number; survivors: number } | null, string[]>(
      compiledUrl('jacobi-survivor-program.ts'),
      { ranks: 6, fabric: threads({ processes: 3 }), args: ['lose', '0'] },
    )
    const solution = results.find((result) => result != null)
    expect(solution).toMatchObject({ differing: 0, recoveries: 1, survivors: 4 })
  })
})
