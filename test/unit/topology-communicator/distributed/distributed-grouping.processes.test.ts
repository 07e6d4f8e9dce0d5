import { expect, it } from 'vitest'
import { groupingCases } from '../../../support/grouping-program.js'
import { describeEitherMpi, program, runJob } from '../../../support/mpi.js'

const ranks = 24
const asPlanned = groupingCases.map(() => 'same plan, right blocks')

describeEitherMpi('8 processes on MPI match as planned', (mpi) => {
  it('all cases', async () => {
    const { code, stdout, stderr } = await runJob(mpi, 8, program('grouping-mpi.ts'))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual(new Array(ranks).fill(asPlanned))
  })
})
