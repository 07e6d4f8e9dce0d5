import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { reportedCalls } from '../../support/reported-calls.js'
import { describeShim } from '../../support/shim.js'

describeShim('a halo exchange that was rewritten', (shim) => {
  it('has the same data by messages, by MPI, and by the preloaded library', async () => {
    const source = fileURLToPath(new URL('../../../examples/c/rewritten-halo.c', import.meta.url))
    const program = shim.path('rewritten-halo')
    // GCC warns of MPI_UNWEIGHTED of Open MPI, and of MPI_STATUSES_IGNORE of MPICH.
    const ignored = ['-Wno-stringop-overread', '-Wno-stringop-overflow']
    const flags = ['-std=c99', '-O2', '-Wall', '-Wextra', '-Werror', ...ignored]
    execFileSync(shim.mpicc, [...flags, '-o', program, source])
    const right = expect.stringMatching(
      /^right: [\d.]+ us by messages, [\d.]+ us by a neighborhood collective\n$/,
    )
    // Waiting processes of MPICH do not give up their core.
    const ranks = shim.mpi.name === 'MPICH' ? 2 : 4
    const words = [program, '5', '100']
    expect(await shim.start(ranks, words, { RANKWEAVE_SHIM: 'off' })).toMatchObject({
      code: 0,
      stdout: right,
    })
    const ended = await shim.start(ranks, words, { RANKWEAVE_SHIM: 'always,report' })
    expect(ended).toMatchObject({ code: 0, stdout: right })
    const [{ calls, name, outcomes }] = reportedCalls(ended.stderr)
    expect([name, calls]).toEqual(['MPI_Neighbor_alltoallv', 100])
    expect(Object.keys(outcomes).some((outcome) => !outcome.startsWith('left to MPI'))).toBe(true)
  })
})
