import { expect, it } from 'vitest'
import { describeMpi, program, runJob } from '../../../support/mpi.js'

describeMpi('a send whose array is transferred while MPI reads it', (mpi) => {
  it('fails, unless all of it has been read; MPI may end the job where the memory is gone', async () => {
    const { code, stdout, stderr } = await runJob(mpi, 2, program('detached-sender-mpi.ts'))
    if (code !== 0) {
      expect(stderr).toMatch(/Bad address|signal (11|6)|SIGSEGV|Segmentation fault/)
      return
    }
    // Open MPI says of memory that is gone that it cannot read it, and tries otherwise.
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^(\[.*\] Read -1, .*errno = 14\s*)*$/),
    })
    const [[sent], [arrived]] = JSON.parse(stdout) as [[string], [string]]
    expect(['sent right', 'ERR_TYPE right', 'ERR_TYPE wrong', 'ERR_TYPE ERR_TYPE']).toContain(
      `${sent} ${arrived}`,
    )
  })
})
