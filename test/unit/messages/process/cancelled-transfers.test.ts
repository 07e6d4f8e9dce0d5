import { local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { allEndings, expectEnded } from '../../../support/cancelled-transfers.js'
import main, { type Part } from '../../../support/cancelled-transfers-program.js'

describe.each([
  { way: 'in bulk', bulk: true },
  { way: 'in frames', bulk: false },
])('a message that is transferred $way and ends early', ({ bulk }) => {
  it.each([0, 1, 2, 5])('leaves buffers alone afterwards, and the world usable: %i turns', async (turns) => {
    const part: Part = { endings: allEndings, length: 100_000, turns }
    const fabric = local({ processes: 3, bulk, maxPayloadBytes: 10_000 })
    const options = { ranks: 3, fabric, eagerLimitBytes: 1000, creditBytes: 20_000 }
    const early = expectEnded(part, (await run((world) => main(world, part), options)) as never)
    if (turns === 0) expect(early).toBeGreaterThan(0)
  })

  it('does not hide a deadlock', async () => {
    const part: Part = {
      endings: ['detach the data before the match', 'revoke', 'abort'],
      length: 100_000,
      turns: 0,
      deadlock: true,
    }
    const fabric = local({ processes: 3, bulk, maxPayloadBytes: 10_000 })
    const options = { ranks: 3, fabric, eagerLimitBytes: 1000, creditBytes: 20_000 }
    await expect(run((world) => main(world, part), options)).rejects.toMatchObject({ code: 'ERR_DEADLOCK' })
  })
})
