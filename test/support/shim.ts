import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
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
  const flags = ['-std=c99', '-O2', ...strict, '-Wno-stringop-overread', '-Wno-stringop-overflow', ...extra]
  execFileSync(mpicc, [...flags, '-o', program, source])
  return program
}

/** The program that drives the publishers of the library, linked with it. It is compiled after the library, in its folder; returns its path. */
export function compileExchanges(folder: string, mpicc: string): string {
  const sources = join(folder, 'sources') // of compileShim
  const units = readdirSync(sources).filter((name) => name.endsWith('.c'))
  const flags = ['-pthread', '-D_GNU_SOURCE', '-DRW_MPI(name)=PMPI_##name', `-I${sources}`]
  return compileProgram(folder, mpicc, 'exchanges', [
    ...flags,
    ...units.map((name) => join(sources, name)),
    '-ldl',
    '-lrt',
  ])
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
