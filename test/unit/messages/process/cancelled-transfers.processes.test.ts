import { expect, it } from 'vitest'
import { allEndings, expectEnded } from '../../../support/cancelled-transfers.js'
import type { Outcome, Part } from '../../../support/cancelled-transfers-program.js'
import { describeEitherMpi, program, runJob } from '../../../support/mpi.js'

describeEitherMpi('a message that ends early', (mpi) => {
  const start = (part: Part) => runJob(mpi, 3, program('cancelled-transfers-mpi.ts', JSON.stringify(part)))
  const length = 1_000_000

  it('leaves buffers alone afterwards, and the world usable', async () => {
    const part: Part = { endings: allEndings, length, turns: 1 }
    const { code, stdout, stderr } = await start(part)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expectEnded(part, JSON.parse(stdout) as Outcome[][])
  })

  it('does not hide a deadlock', async () => {
    const { code, stdout } = await start({
      endings: ['detach the data before the match', 'revoke'],
      length,
      turns: 1,
      deadlock: true,
    })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '"ERR_DEADLOCK"\n' })
  })
})
