import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeMpi, type Mpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { compileShim, runPreloaded } from '../support/shim.js'

const source = fileURLToPath(new URL('../support/shim/neighbors.F90', import.meta.url))

/** The Fortran compiler of an MPI, or null, whose reason is printed. */
function fortranOf({ name, mpirun }: Mpi): string | null {
  const compiler = mpirun.replace('mpirun', 'mpifort')
  if (spawnSync(compiler, ['--version'], { stdio: 'ignore' }).status === 0) return compiler
  const reason = `programs in Fortran are not run on ${name}: ${compiler} or its compiler is missing (apt-get install gfortran)`
  if (process.env['RANKWEAVE_REQUIRE_MPI'] === '1') throw new Error(reason)
  console.warn(reason)
  return null
}

describeMpi('a Fortran program with the preloaded library', (mpi) => {
  const mpicc = compilerOf(mpi)
  const mpifort = fortranOf(mpi)
  let folder: string
  let library: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rankweave-fortran-'))
    if (mpicc !== null && mpifort !== null) library = compileShim(folder, mpicc).library
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  // Entry points behind mpi_f08 of MPICH are not intercepted: its calls are left to MPI.
  const planned = [3, 6, 6]
  it.skipIf(mpicc === null || mpifort === null).each([
    ['mpif.h', 'WITH_MPIF', planned],
    ['use mpi', 'WITH_MODULE', planned],
    ['use mpi_f08', 'WITH_F08', mpi.name === 'MPICH' ? [] : planned],
  ])('gets right data, by plans: %s', async (_, define, calls) => {
    const program = join(folder, define)
    execFileSync(mpifort!, ['-O1', `-D${define}`, '-J', folder, '-o', program, source])
    const ended = await runPreloaded(mpi, 5, library, [program], { RANKWEAVE_SHIM: 'always,report' })
    expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
    // Six allgathers and six alltoalls on the graph, three allgathers on the grid.
    const byPlan = [...ended.stderr.matchAll(/(\d+) by the plan/g)].map(([, count]) => Number(count))
    expect(byPlan.sort()).toEqual(calls)
  })
})
