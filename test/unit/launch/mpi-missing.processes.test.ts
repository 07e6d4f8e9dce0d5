import { spawnSync } from 'node:child_process'
import { mpi, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { rankweave } from '../../support/mpi.js'
import { cli } from '../cli/run-cli.js'

const words = ['run', 'examples/split-grid.ts', '-n', '4']

/** The command as one of so many processes that Open MPI's mpirun had started. */
const startedAsOf = (processes: number) => ({
  OMPI_COMM_WORLD_RANK: '0',
  OMPI_COMM_WORLD_SIZE: `${processes}`,
})

/** The only process of a job: what it reports, with exit code 2. */
function refusal(nodeArgs: readonly string[], ...more: readonly string[]): string {
  const args = [...nodeArgs, ...rankweave(...words, '--fabric', 'mpi', ...more)]
  const env = { ...process.env, ...startedAsOf(1) }
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  expect(status, stderr).toBe(2)
  return stderr
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
    expect(refusal(['--import', './test/support/without-package.mjs?koffi'])).toMatch(
      /^ERR_MPI_KOFFI: .*npm install koffi/,
    )
  })

  it('no library, or one that is not an MPI library', () => {
    expect(refusal([], '--mpi-lib', '/nowhere/libmpi.so')).toMatch(/^ERR_MPI_LIBRARY: .*--mpi-lib/)
    const other = /^ERR_MPI_LIBRARY: 'libc.so.6' is not an MPI library: it has no MPI_/
    expect(refusal([], '--mpi-lib', 'libc.so.6')).toMatch(other)
  })

  it.each([
    [/^ERR_WORLD: --processes: .*3/, ['--fabric', 'mpi', '--processes', '2']],
    [/^ERR_WORLD: --nodes/, ['--fabric', 'mpi', '--nodes', '4']],
    [/^ERR_USAGE: --mpi-lib/, ['--mpi-lib', 'libmpi.so']],
  ])('options that do not match the job: %s', async (message, more) => {
    Object.assign(process.env, startedAsOf(3))
    try {
      expect(await cli(...words, ...more)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(message),
      })
    } finally {
      for (const name of Object.keys(startedAsOf(3))) delete process.env[name]
    }
  })
})
