import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const interpreter = '/usr/bin/python3'

/**
 * The command of the program that calls mpi4py of Debian, which is built with Open MPI; or why it cannot run.
 */
export function pythonProgram(): readonly string[] | { readonly missing: string } {
  const question =
    'import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())'
  const { error, status, stdout } = spawnSync(interpreter, ['-c', question], { encoding: 'utf8' })
  if (error !== undefined) return { missing: `${interpreter} does not start: ${error.message}` }
  if (status !== 0) return { missing: `${interpreter} has no mpi4py: apt-get install python3-mpi4py` }
  if (!stdout.includes('Open MPI'))
    return { missing: `mpi4py of ${interpreter} uses another MPI: ${stdout.trim()}` }
  return [interpreter, fileURLToPath(new URL('neighbor_allgather.py', import.meta.url))]
}
