import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CompiledLibrary, compileLibrary, ownSources } from '../../src/shim/library.js'
import { type Ended, type Mpi, startCommand } from './mpi.js'
import { root } from './newer.js'

const strict = ['-Wall', '-Wextra', '-Werror']

/** Beside the compiled modules, and removed with them. */
const compiledShims = `${root}.compiled/shims`

/** The library, warnings being errors. Its sources are compiled once for all test files. */
export function compileShim(folder: string, mpicc: string): CompiledLibrary {
  const hash = createHash('sha256').update(JSON.stringify([mpicc, strict, ownSources()]))
  const compiled = join(compiledShims, hash.digest('hex'))
  if (!existsSync(compiled)) compileInto(compiled, mpicc)
  cpSync(compiled, folder, { recursive: true })
  const { library, mpi } = JSON.parse(readFileSync(join(folder, 'compiled.json'), 'utf8'))
  return { library: join(folder, library), sources: join(folder, 'sources'), mpi }
}

/** Another vitest worker may do the same at this time: the folder appears whole. */
function compileInto(compiled: string, mpicc: string): void {
  mkdirSync(compiledShims, { recursive: true })
  const fresh = mkdtempSync(`${compiled}-`)
  const { library, mpi } = compileLibrary(fresh, mpicc, strict)
  writeFileSync(join(fresh, 'compiled.json'), JSON.stringify({ library: basename(library), mpi }))
  try {
    renameSync(fresh, compiled)
  } catch (error) {
    if (!existsSync(compiled)) throw error
    rmSync(fresh, { recursive: true })
  }
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

/** Compiles a library of test/support/shim that is preloaded besides, or loaded by a program. */
export function compileOther(folder: string, mpicc: string, name: string, file = `${name}.so`): string {
  const library = compileProgram(folder, mpicc, name, ['-shared', '-fPIC'])
  renameSync(library, join(folder, file))
  return join(folder, file)
}

/** The program that drives the publishers of the library, linked with it. */
export function compileExchanges(folder: string, mpicc: string): string {
  return compileLinked(folder, mpicc, 'exchanges')
}

/** The sources of the library where {@link compileLinked} finds them, without compiling the library. */
export function writeShimSources(folder: string): void {
  mkdirSync(join(folder, 'sources'))
  for (const { name, text } of ownSources()) writeFileSync(join(folder, 'sources', name), text)
}

/**
 * A program that is linked with the library. It is compiled after the library, or after {@link writeShimSources}, in its
 * folder; returns its path.
 */
export function compileLinked(folder: string, mpicc: string, name: string): string {
  const sources = join(folder, 'sources')
  const units = readdirSync(sources).filter((name) => name.endsWith('.c'))
  // Without optimization: it is compiled for a few runs.
  const flags = ['-O0', '-pthread', '-D_GNU_SOURCE', '-DRW_MPI(name)=PMPI_##name', `-I${sources}`]
  return compileProgram(folder, mpicc, name, [
    ...flags,
    ...units.map((name) => join(sources, name)),
    '-Wl,--no-as-needed',
    '-lm',
    '-ldl',
    '-lrt',
  ])
}

/**
 * Whether Open MPI 4.1 called code that it had unloaded: the address of the code is not mapped, so there is
 * no backtrace. Programs of test/support/shim print their result last, so MPI_Finalize had begun. See
 * shim/late.c.
 */
function isUnloadedCode({ stdout, stderr }: Ended): boolean {
  const isUnmapped = /Segmentation fault \(11\)\n.*Address not mapped.*\n.*Failing at address/.test(stderr)
  return isUnmapped && !/\] \[ ?\d+\] /.test(stderr) && stdout.endsWith('\n')
}

/**
 * Runs a program with the library preloaded into its processes, and not into the launcher. Runs it once more
 * if Open MPI called code that it had unloaded, and prints that.
 */
export async function runPreloaded(
  mpi: Mpi,
  processes: number,
  library: string,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const preloading = ['env', `LD_PRELOAD=${library}`, ...command]
  const run = () => startCommand(mpi, processes, preloading, env).ended
  const ended = await run()
  if (mpi.name !== 'Open MPI' || !isUnloadedCode(ended)) return ended
  console.warn(
    `MPI_Finalize called code that Open MPI had unloaded; ${command[0]} runs again:\n${ended.stderr}`,
  )
  return run()
}
