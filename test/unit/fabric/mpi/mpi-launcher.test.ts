import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { abiOf } from '../../../../src/fabric/mpi/mpi-abi.js'
import { mpiLauncher, requireLauncher } from '../../../../src/fabric/mpi/mpi-launcher.js'

describe('the launcher that started this process', () => {
  it.each([
    {
      name: /Open MPI/,
      env: { OMPI_COMM_WORLD_RANK: '2', OMPI_COMM_WORLD_SIZE: '4' },
      first: 'libmpi.so.40',
    },
    { name: /Hydra/, env: { PMI_RANK: '2', PMI_SIZE: '4' }, first: 'libmpi_abi.so.0' },
    { name: /Slurm/, env: { SLURM_PROCID: '2', SLURM_STEP_NUM_TASKS: '4' }, first: 'libmpi_abi.so.0' },
    {
      name: /Open MPI/,
      env: {
        SLURM_PROCID: '0',
        SLURM_STEP_NUM_TASKS: '1',
        OMPI_COMM_WORLD_RANK: '2',
        OMPI_COMM_WORLD_SIZE: '4',
      },
      first: 'libmpi.so.40',
    },
  ])('$env', ({ name, env, first }) => {
    const launcher = mpiLauncher(env)
    expect(launcher).toMatchObject({ process: 2, processes: 4 })
    expect(launcher?.name).toMatch(name)
    expect(launcher?.libraries[0]).toBe(first)
  })

  it.each([
    {},
    { SLURM_NTASKS: '4', SLURM_PROCID: '0' },
    { PMI_RANK: '4', PMI_SIZE: '4' },
    { PMI_RANK: '-1', PMI_SIZE: '4' },
    { PMI_RANK: '0' },
  ])('is none with %o', (env) => {
    expect(mpiLauncher(env)).toBeUndefined()
    expect(() => requireLauncher(env)).toThrow(expect.objectContaining({ code: 'ERR_MPI_LAUNCHER' }))
  })
})

describe('the connection to a launcher', () => {
  const env = { PMI_RANK: '0', PMI_SIZE: '2' }

  it('a descriptor that is not a socket is refused before MPI is loaded', () => {
    // A file in place of the launcher's socket, and a descriptor that nothing has opened.
    const file = openSync(fileURLToPath(import.meta.url), 'r')
    try {
      for (const PMI_FD of [String(file), '999999']) {
        const refused = {
          code: 'ERR_MPI_LAUNCHER',
          message: expect.stringMatching(/npx.*start node or the binary/),
        }
        expect(() => requireLauncher({ ...env, PMI_FD })).toThrow(expect.objectContaining(refused))
      }
    } finally {
      closeSync(file)
    }
  })

  it('launchers without a descriptor are not checked', () => {
    expect(requireLauncher(env)).toMatchObject({ process: 0, processes: 2 })
  })
})

describe('the binary interface of a library', () => {
  const none = () => undefined

  it('is told by its version, its symbols or the name of its file', () => {
    expect(abiOf('libmpi.so.12', 'MPICH Version: 4.0.2', none)).toMatchObject({
      name: 'MPICH',
      handleBytes: 4,
    })
    expect(abiOf('/opt/lib/libmpi_abi.so.0', 'MPICH Version: 5.0.0', none)).toMatchObject({
      name: 'standard',
      commWorld: 0x101,
    })
    expect(abiOf('libmpi.so.40', 'Open MPI v4.1.4', () => 4096)).toMatchObject({
      name: 'Open MPI',
      commWorld: 4096,
    })
  })

  it('is refused when it is none that we know, or incomplete', () => {
    const refused = expect.objectContaining({ code: 'ERR_MPI_LIBRARY' })
    expect(() => abiOf('libmpi.so', 'LAM/MPI 7', none)).toThrow(refused)
    const world = (name: string) => (name === 'ompi_mpi_comm_world' ? 1 : undefined)
    expect(() => abiOf('libmpi.so.40', 'Open MPI', world)).toThrow(refused)
  })
})
