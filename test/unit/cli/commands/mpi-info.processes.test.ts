import { describe, expect, it } from 'vitest'
import { installedMpis } from '../../../support/mpi.js'
import { cli, onlyObject } from '../run-cli.js'

// In a job: unit/launch/mpi-command.soak.ts.
describe('mpi-info outside a job', () => {
  it.skipIf(installedMpis.length === 0)('lists the MPI libraries of this machine (needs one)', async () => {
    const answer = await cli('mpi-info', '--json')
    expect(answer.exitCode).toBe(0)
    const { launcher, libraries } = onlyObject(answer) as {
      launcher: null
      libraries: { path: string; version: string; abi: string }[]
    }
    expect(launcher).toBeNull()
    for (const { name } of installedMpis) expect(libraries.map(({ abi }) => abi)).toContain(name)
    for (const { path, version } of libraries) expect([path, version]).not.toContain('')
    expect(new Set(libraries.map(({ path }) => path)).size).toBe(libraries.length)
    expect((await cli('mpi-info')).stdout).toMatch(/^ +library +\S+\n +version .*\n +interface .*\n/)
  })

  it('reports a missing library with exit code 2', async () => {
    const { exitCode, stdout, stderr } = await cli('mpi-info', '--mpi-lib', '/nowhere/libmpi.so')
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(
      /^ERR_MPI_LIBRARY: no MPI library was found: install .*\n {2}\/nowhere\/libmpi\.so: /,
    )
  })
})
