import { spawnSync } from 'node:child_process'
import { mpi, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { describeEitherMpi, describeMpi, rankweave, runJob, startCommand } from '../../support/mpi.js'

/** The command in one process, as if Open MPI's mpirun had started it. */
function alone(nodeArgs: readonly string[], more: readonly string[]) {
  const env = { ...process.env, OMPI_COMM_WORLD_RANK: '0', OMPI_COMM_WORLD_SIZE: '1' }
  const args = [
    ...nodeArgs,
    ...rankweave('run', 'examples/split-grid.ts', '-n', '4', '--fabric', 'mpi', ...more),
  ]
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  return { status, stderr, code: stderr.split(':')[0] }
}

describe('mpi with something missing', () => {
  it('no launcher', async () => {
    const refused = expect.objectContaining({
      code: 'ERR_MPI_LAUNCHER',
      message: expect.stringContaining('mpirun'),
    })
    expect(() => mpi()).toThrow(refused)
    await expect(run(() => 1, { ranks: 1, fabric: 'mpi' })).rejects.toEqual(refused)
  })

  it('no koffi', () => {
    const { status, stderr, code } = alone(['--import', './test/support/without-koffi.mjs'], [])
    expect({ status, code }).toEqual({ status: 2, code: 'ERR_MPI_KOFFI' })
    expect(stderr).toContain('npm install koffi')
  })

  it('no library, or one that is not an MPI library', () => {
    const missing = alone([], ['--mpi-lib', '/nowhere/libmpi.so'])
    expect(missing.stderr).toMatch(/^ERR_MPI_LIBRARY: .*--mpi-lib/)
    expect(missing.status).toBe(2)
    const other = alone([], ['--mpi-lib', 'libc.so.6'])
    expect(other.stderr).toMatch(/^ERR_MPI_LIBRARY: 'libc.so.6' is not an MPI library: it has no MPI_/)
    expect(other.status).toBe(2)
  })

  it('options that do not match the job', () => {
    const env = { ...process.env, OMPI_COMM_WORLD_RANK: '0', OMPI_COMM_WORLD_SIZE: '3' }
    const said = (...args: string[]) =>
      spawnSync(process.execPath, rankweave('run', 'examples/split-grid.ts', '-n', '4', ...args), {
        env,
        encoding: 'utf8',
      }).stderr
    expect(said('--fabric', 'mpi', '--processes', '2')).toMatch(/^ERR_WORLD: --processes: .*3/)
    expect(said('--fabric', 'mpi', '--nodes', '4')).toMatch(/^ERR_WORLD: --nodes/)
    expect(said('--mpi-lib', 'libmpi.so')).toMatch(/^ERR_USAGE: --mpi-lib/)
  })
})

describeEitherMpi('mpi with the library of the other MPI', ({ name, ...mpi }) => {
  it('is rejected: every process would be its own world', async () => {
    const other = name === 'MPICH' ? 'libmpi.so.40' : 'libmpich.so.12'
    const args = rankweave('run', 'examples/split-grid.ts', '-n', '4', '--fabric', 'mpi', '--mpi-lib', other)
    const { code, stderr } = await runJob({ name, ...mpi }, 2, args)
    expect(stderr).toMatch(/ERR_MPI_LIBRARY: .* started 2 processes, but MPI_COMM_WORLD .* has 1/)
    expect(code).not.toBe(0)
  })
})

describeEitherMpi('mpi where one process alone fails before MPI is initialized', (mpi) => {
  it('ends the whole job, and reports why', async () => {
    const command = rankweave('run', 'examples/split-grid.ts', '-n', '4', '--fabric', 'mpi')
    const script = '[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ] && set -- "$@" --no-such-option; exec "$@"'
    const words = ['sh', '-c', script, 'sh', process.execPath, ...command]
    const { code, stderr } = await startCommand(mpi, 2, words).ended
    expect(stderr).toContain('no-such-option')
    expect(code).not.toBe(0)
  })
})

describeMpi('mpi whose option is misspelled on one process', (mpi) => {
  it('ends the whole job, and reports why', async () => {
    const command = rankweave('run', 'examples/split-grid.ts', '-n', '4')
    const script =
      '[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ] && option=--fabrik || option=--fabric; exec "$@" "$option" mpi'
    const { code, stderr } = await startCommand(mpi, 2, [
      'sh',
      '-c',
      script,
      'sh',
      process.execPath,
      ...command,
    ]).ended
    expect(stderr).toContain('--fabrik')
    expect(code).not.toBe(0)
  })
})
