import { spawnSync } from 'node:child_process'
import type { TestProject } from 'vitest/node'

/** The launchers whose MPI the tests use, by name. */
export const launchers = { 'Open MPI': 'mpirun.openmpi', MPICH: 'mpirun.mpich' } as const

declare module 'vitest' {
  interface ProvidedContext {
    /** The launchers that this machine has. */
    readonly mpirun: readonly string[]
  }
}

/**
 * Finds the MPI libraries of this machine once per run. Tests of one that is missing are skipped, and the
 * reason is printed here; RANKWEAVE_REQUIRE_MPI=1, which `.ci/run` sets, makes it an error.
 */
export default function findMpi(project: TestProject): void {
  const isFound = (mpirun: string) => spawnSync(mpirun, ['--version'], { stdio: 'ignore' }).status === 0
  const found = Object.values(launchers).filter(isFound)
  project.provide('mpirun', found)
  const missing = Object.entries(launchers).filter(([, mpirun]) => !found.includes(mpirun))
  if (missing.length === 0) return
  const what = missing.map(([name, mpirun]) => `${name} (no ${mpirun} on the PATH)`).join(' and ')
  if (process.env['RANKWEAVE_REQUIRE_MPI'] === '1')
    throw new Error(`tests require MPI, but there is no ${what}`)
  console.warn(
    `Tests of MPI are skipped for ${what}. On Debian: apt-get install openmpi-bin libopenmpi-dev mpich libmpich-dev`,
  )
}
