import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { describeEitherMpi, installedMpis, rankweave, runJob } from '../../../support/mpi.js'
import { cli, onlyObject } from '../run-cli.js'

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

describeEitherMpi('mpi-info in a job', (mpi) => {
  it('reports library, processes and nodes once', async () => {
    const { code, stdout } = await runJob(mpi, 2, rankweave('mpi-info', '--json'))
    expect(code).toBe(0)
    expect(onlyObject({ exitCode: 0, stdout, stderr: '' })).toMatchObject({ abi: mpi.name, processes: 2 })
  })

  // Only MPICH's launcher connects to its processes by a file descriptor.
  if (mpi.name !== 'MPICH') return
  it('ends with ERR_MPI_LAUNCHER when the launcher connection is closed, as npx closes it', () => {
    const words = [process.execPath, ...rankweave('mpi-info')].map((word) => `'${word}'`).join(' ')
    const script = `eval "exec $PMI_FD>&-"; exec ${words}`
    const { status, stderr } = spawnSync(mpi.mpirun, [...mpi.flags, '-n', '2', 'sh', '-c', script], {
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(stderr).toMatch(/ERR_MPI_LAUNCHER: .* is closed in this process, as npx and npm do: start node/)
    expect(stderr).not.toContain('write_line')
  })
})
