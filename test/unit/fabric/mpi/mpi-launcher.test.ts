import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { mpiLauncher, requireLauncher } from '../../../../src/fabric/mpi/mpi-launcher.js'
import { abiOf } from '../../../../src/fabric/mpi/mpi-library.js'

describe('mpiLauncher', () => {
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
  ])('recognizes the launcher by $env', ({ name, env, first }) => {
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
  ])('finds no launcher in %o', (env) => {
    expect(mpiLauncher(env)).toBeUndefined()
    expect(() => requireLauncher(env)).toThrow(expect.objectContaining({ code: 'ERR_MPI_LAUNCHER' }))
  })
})

describe('requireLauncher', () => {
  const env = { PMI_RANK: '0', PMI_SIZE: '2' }

  it('rejects a descriptor that is not a socket, before MPI is loaded', () => {
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

  it('does not check launchers without a descriptor', () => {
    expect(requireLauncher(env)).toMatchObject({ process: 0, processes: 2 })
  })
})

describe('abiOf', () => {
  const none = () => undefined

  it('identifies the binary interface by version, symbols or file name', () => {
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

  it('rejects a library of an unknown or incomplete interface', () => {
    const refused = expect.objectContaining({ code: 'ERR_MPI_LIBRARY' })
    expect(() => abiOf('libmpi.so', 'LAM/MPI 7', none)).toThrow(refused)
    const world = (name: string) => (name === 'ompi_mpi_comm_world' ? 1 : undefined)
    expect(() => abiOf('libmpi.so.40', 'Open MPI', world)).toThrow(refused)
  })
})
