import { expect, it } from 'vitest'
import { describeEitherMpi, rankweave, runJob } from '../../support/mpi.js'

const program = (...argv: readonly string[]) =>
  rankweave('run', 'test/support/mpi-output.mjs', '-n', '2', ...argv)

describeEitherMpi('what a job prints', (mpi) => {
  it('has no colors when the output of the launcher is not a terminal', async () => {
    const { stdout, stderr } = await runJob(mpi, 2, program('--fabric', 'mpi'))
    expect(stdout.replaceAll('\r', ''), stderr).toContain("a number 42 { text: 'words' }\n")
  })

  it('is preceded by one warning when copies run worlds of their own', async () => {
    const { stdout, stderr, code } = await runJob(mpi, 2, program())
    expect(code).toBe(0)
    expect(stdout.match(/a number/g)).toHaveLength(2)
    expect(stderr.match(/\[RANKWEAVE_COPIES\] .* started 2 copies of this program/g)).toHaveLength(1)
  })
})
