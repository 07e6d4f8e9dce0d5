import { execFileSync } from 'node:child_process'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CompiledLibrary, compileLibrary } from '../../src/shim/library.js'
import { type Ended, type Mpi, startCommand } from './mpi.js'

const strict = ['-Wall', '-Wextra', '-Werror']

/** The library, warnings being errors. */
export function compileShim(folder: string, mpicc: string): CompiledLibrary {
  return compileLibrary(folder, mpicc, strict)
}

/** Compiles a program of test/support/shim, with more options of the compiler; returns its path. */
export function compileProgram(
  folder: string,
  mpicc: string,
  name: string,
  extra: readonly string[] = [],
): string {
  const program = join(folder, name)
  const source = fileURLToPath(new URL(`shim/${name}.c`, import.meta.url))
  // MPICH declares constants such as MPI_UNWEIGHTED as arrays of no length.
  const flags = ['-std=c99', '-O2', ...strict, '-Wno-stringop-overread', ...extra]
  execFileSync(mpicc, [...flags, '-o', program, source])
  return program
}

/** Compiles a library of test/support/shim that is preloaded besides, or loaded by a program. */
export function compileOther(folder: string, mpicc: string, name: string, file = `${name}.so`): string {
  const library = compileProgram(folder, mpicc, name, ['-shared', '-fPIC'])
  renameSync(library, join(folder, file))
  return join(folder, file)
}

/** Runs a program with the library preloaded into its processes, and not into the launcher. */
export function runPreloaded(
  mpi: Mpi,
  processes: number,
  library: string,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return startCommand(mpi, processes, ['env', `LD_PRELOAD=${library}`, ...command], env).ended
}
