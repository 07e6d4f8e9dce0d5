import { expect, it } from 'vitest'
import { describeEitherMpi, program, runJob } from '../../support/mpi.js'

describeEitherMpi('worlds that start at the same time', (mpi) => {
  it('open in the order of the calls of run, and all of them run', async () => {
    const { stdout, stderr, code } = await runJob(mpi, 2, program('mpi-concurrent.ts'))
    expect(code, stderr).toBe(0)
    const sums = [6, 10, 14].map((sum) => [sum, sum, sum, sum])
    expect(JSON.parse(stdout)).toEqual([sums[0], expect.any(Array), sums[1], 'ERR_PROGRAM', sums[2]])
  })
})
