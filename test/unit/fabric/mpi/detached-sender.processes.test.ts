import { expect, it } from 'vitest'
import { describeMpi, program, runJob } from '../../../support/mpi.js'

describeMpi('a send whose array is transferred while MPI reads it', (mpi) => {
  it('fails, unless all of it has been read', async () => {
    const { code, stdout, stderr } = await runJob(mpi, 2, program('detached-sender-mpi.ts'))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [[sent], [arrived]] = JSON.parse(stdout) as [[string], [string]]
    expect(['sent right', 'ERR_TYPE right', 'ERR_TYPE wrong', 'ERR_TYPE ERR_TYPE']).toContain(
      `${sent} ${arrived}`,
    )
  })
})
