import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  compilerOfCommand,
  compilersOfPath,
  launchLine,
  withVariables,
} from '../../../src/shim/mpi-command.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const folder = temporaryFolder('mpi-command')
const openMpi = () => 'mpirun (Open MPI) 4.1.4\n'
const mpich = () => 'HYDRA build details:\n    Version:  4.0.2\n'
const variables = { LD_PRELOAD: '/usr/lib/librankweave.so', RANKWEAVE_SHIM: 'record:graph' }

describe('the command of an MPI program', () => {
  it('hands variables to every program of Open MPI', () => {
    const command = ['mpirun', '-n', '2', './a', ':', '-n', '1', './b']
    const set = ['-x', 'LD_PRELOAD=/usr/lib/librankweave.so', '-x', 'RANKWEAVE_SHIM=record:graph']
    expect(withVariables(command, variables, openMpi)).toEqual([
      ...['mpirun', ...set, '-n', '2', './a', ':', ...set, '-n', '1', './b'],
    ])
  })

  it('hands variables to all processes of MPICH', () => {
    const set = ['-genv', 'LD_PRELOAD', '/usr/lib/librankweave.so', '-genv', 'RANKWEAVE_SHIM', 'record:graph']
    const command = ['/opt/bin/mpiexec.mpich', '-n', '2', './a', ':', './b']
    const [launcher, ...words] = command
    expect(withVariables(command, variables, mpich)).toEqual([launcher, ...set, ...words])
  })

  it('hands variables to the tasks of srun, beside those that it passes on by default', () => {
    const slurm = () => 'slurm 22.05.8\n'
    const set = '--export=ALL,LD_PRELOAD=/usr/lib/librankweave.so,RANKWEAVE_SHIM=record:graph'
    const command = ['/opt/bin/srun', '--mpi=pmix', '-n', '8', './a']
    expect(withVariables(command, variables, slurm)).toEqual([command[0], set, ...command.slice(1)])
    const refused =
      (words: readonly string[], library = '/a.so') =>
      () =>
        withVariables(['srun', ...words], { LD_PRELOAD: library }, slurm)
    expect(refused(['--export=NONE', './a'])).toThrow('leaves --export alone')
    expect(refused(['--export', 'NONE', './a'])).toThrow('leaves --export alone')
    expect(refused(['./a'], '/a,b.so')).toThrow('LD_PRELOAD without commas')
  })

  it('begins with a launcher that is known, and sets none of the variables', () => {
    const refused = (command: readonly string[], version: () => string | null) => () =>
      withVariables(command, variables, version)
    expect(refused(['./program'], openMpi)).toThrow("got './program', another program")
    expect(refused(['mpirun', './a'], () => null)).toThrow("got 'mpirun', one that does not start")
    expect(refused(['mpirun', './a'], () => 'xmpi 3\n')).toThrow('one of another MPI: xmpi 3')
    expect(refused(['mpirun', '-x', 'LD_PRELOAD=/x.so', './a'], openMpi)).toThrow('leaves LD_PRELOAD alone')
    expect(refused(['mpirun', '-env', 'RANKWEAVE_SHIM', 'off', './a'], mpich)).toThrow(
      'leaves RANKWEAVE_SHIM',
    )
  })

  it('has the compiler of its launcher', () => {
    const site = { isFile: () => true, compilers: () => [] }
    expect(compilerOfCommand(['mpirun'], site)).toBe('mpicc')
    expect(compilerOfCommand(['mpiexec.mpich'], site)).toBe('mpicc.mpich')
    expect(compilerOfCommand(['/opt/mpich/bin/mpiexec.hydra'], site)).toBe('/opt/mpich/bin/mpicc')
    expect(compilerOfCommand(['/opt/mpi/bin/orterun', '-n', '2'], site)).toBe('/opt/mpi/bin/mpicc')
  })

  it.each(['srun', 'env', '/nodes/mpirun'])(
    'has the only compiler of the machine where %s does not show its MPI',
    (launcher) => {
      const site = (...compilers: string[]) => ({ isFile: () => false, compilers: () => compilers })
      expect(compilerOfCommand([launcher, '-n', '2'], site('/bin/mpicc.mpich'))).toBe('/bin/mpicc.mpich')
      for (const [compilers, found] of [
        [[], 'PATH finds none'],
        [['/bin/mpicc', '/bin/mpicc.mpich'], 'PATH finds /bin/mpicc, /bin/mpicc.mpich'],
      ] as const) {
        const refused = () => compilerOfCommand([launcher, '-n', '2'], site(...compilers))
        expect(refused).toThrow(expect.objectContaining({ code: 'ERR_SHIM' }))
        expect(refused).toThrow(`expected --mpicc with the compiler of the MPI that '${launcher}' starts`)
        expect(refused).toThrow(found)
      }
    },
  )

  it('finds every compiler once in the folders of PATH, whatever its names', () => {
    const [first, second] = [join(folder(), 'first'), join(folder(), 'second')]
    for (const path of [first, second]) mkdirSync(path)
    for (const file of ['mpicc.mpich', 'opal_wrapper', 'mpicc-notes', 'mpif90'])
      writeFileSync(join(first, file), '')
    for (const name of ['mpicc', 'mpicc.openmpi']) symlinkSync('opal_wrapper', join(first, name))
    symlinkSync(join(first, 'mpicc'), join(second, 'mpicc'))
    symlinkSync('nothing', join(second, 'mpicc.broken'))
    const path = [join(folder(), 'missing'), first, second].join(delimiter)
    expect(compilersOfPath(path)).toEqual([join(first, 'mpicc'), join(first, 'mpicc.mpich')])
  })

  it('is printed with the options that Open MPI demands on a machine', () => {
    const preloaded = { LD_PRELOAD: '/my lib.so' }
    const large = { cores: 64, isRoot: false }
    const small = { cores: 2, isRoot: true }
    expect(launchLine('Open MPI', 'mpicc', 64, preloaded, large)).toBe(
      "mpirun -n 64 -x 'LD_PRELOAD=/my lib.so' ./program",
    )
    expect(launchLine('Open MPI', '/opt/bin/mpicc.openmpi', 64, preloaded, small)).toBe(
      "/opt/bin/mpirun.openmpi --allow-run-as-root --oversubscribe -n 64 -x 'LD_PRELOAD=/my lib.so' ./program",
    )
    expect(launchLine('MPICH', 'mpicc.mpich', 64, preloaded, small)).toBe(
      "mpirun.mpich -n 64 -genv LD_PRELOAD '/my lib.so' ./program",
    )
  })
})
