import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { reportedCalls } from '../../support/reported-calls.js'
import { describeShim, type Shim, sourceOf } from '../../support/shim.js'

const petsc = '/usr/lib/petscdir/petsc-real'
const python = '/usr/bin/python3'

/** Debian's packages, which use Open MPI, and why their tests are skipped. */
const reasons = {
  petsc: existsSync(petsc) ? undefined : 'apt-get install libpetsc-real-dev',
  dolfinx:
    spawnSync(python, ['-c', 'import dolfinx']).status === 0
      ? undefined
      : 'apt-get install python3-dolfinx python3-mpi4py',
}
for (const [name, missing] of Object.entries(reasons))
  if (missing !== undefined) console.warn(`Tests with ${name} are skipped: ${missing}`)

/** The starts by plan of a program that prints the same without the library. */
async function startsByPlan(shim: Shim, ranks: number, command: readonly string[]): Promise<number> {
  const without = await shim.start(ranks, command, {}, [])
  // DOLFINx compiles its forms in its first run on a machine, and reports that on standard error.
  expect(without).toMatchObject({ code: 0 })
  const ended = await shim.start(ranks, command, { RANKWEAVE_SHIM: 'report' })
  expect(ended).toMatchObject({ code: 0, stdout: without.stdout })
  const starts = reportedCalls(ended.stderr).filter(({ name }) => name === 'MPI_Ineighbor_alltoallv')
  return Math.max(...starts.map(({ outcomes }) => outcomes['by plan'] ?? 0))
}

describeShim('programs of others', (shim) => {
  describe.skipIf(shim.mpi.name !== 'Open MPI')('with the preloaded library', () => {
    it.skipIf(reasons.petsc !== undefined)('has the neighbor collectives of PETSc served', async () => {
      const program = shim.path('petsc')
      const words = [
        `-I${petsc}/include`,
        '-o',
        program,
        sourceOf('petsc'),
        `-L${petsc}/lib`,
        '-lpetsc_real',
        '-lm',
      ]
      execFileSync(shim.mpicc, words)
      expect(await startsByPlan(shim, 6, [program, '-sf_type', 'neighbor'])).toBe(200 - 32)
    })

    it.skipIf(reasons.dolfinx !== undefined)('has the ghosts of DOLFINx served', async () => {
      expect(await startsByPlan(shim, 4, [python, sourceOf('ghosts.py')])).toBe(200 - 32)
    })
  })
})
