import { run, threads } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { allEndings, expectEnded } from '../../../support/cancelled-transfers.js'
import type { Outcome, Part } from '../../../support/cancelled-transfers-program.js'
import { compiledUrl } from '../../../support/compiled.js'

const program = compiledUrl('cancelled-transfers-program.ts')
const length = 1_000_000

const start = (part: Part) =>
  run<Outcome[], Part>(program, { ranks: 3, fabric: threads({ processes: 3 }), args: part })

describe('a message between threads that ends early', () => {
  it('leaves buffers alone afterwards, and the world usable', async () => {
    const part: Part = { endings: allEndings, length, turns: 1 }
    expect(expectEnded(part, await start(part))).toBeGreaterThan(0)
  })

  it('does not hide a deadlock', async () => {
    const part: Part = {
      endings: ['detach the data before the match', 'revoke'],
      length,
      turns: 1,
      deadlock: true,
    }
    await expect(start(part)).rejects.toMatchObject({ code: 'ERR_DEADLOCK' })
  })
})
