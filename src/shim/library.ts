import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sha256 } from '../base/hash.js'
import { RankweaveError } from '../errors.js'
import { runtimeFiles } from '../export/c-program.js'
import { ownFile } from '../package-paths.js'
import { makeDirectory } from '../text/whole-file.js'
import { keepLibrary, takeLibrary } from './library-cache.js'
import type { MpiName } from './mpi-command.js'

const libraryName = 'librankweave_shim.so'

const flags = [
  '-std=c99',
  '-O2',
  '-ffp-contract=off',
  '-fPIC',
  '-fvisibility=hidden',
  '-shared',
  '-pthread',
  '-D_GNU_SOURCE',
]

/** Makes the runtime call the functions below those that the library intercepts. */
const ownFlags = ['-DRW_MPI(name)=PMPI_##name']

export interface CompiledLibrary {
  /** The path of the shared library. */
  readonly library: string
  /** The path of the folder with its sources. */
  readonly sources: string
  /** The MPI for which it is compiled; null for one that is neither. */
  readonly mpi: MpiName | null
}

/**
 * Writes the sources of the library to be preloaded into `folder` and compiles them there.
 *
 * @param mpicc the compiler of the MPI with which the programs were compiled that are to use it
 * @param extra more options of the compiler
 * @throws ERR_SHIM if a C source of the package is missing, the folder cannot be written, or the compiler is missing or
 *   fails; its own message is in the error's
 */
export function compileLibrary(
  folder: string,
  mpicc: string,
  extra: readonly string[] = [],
): CompiledLibrary {
  const library = join(folder, libraryName)
  const sources = join(folder, 'sources')
  const parts = { library, sources, files: ownSources(), header: 'shim.h' }
  const macros = compileSources(parts, mpicc, [...ownFlags, ...extra])
  return { library, sources, mpi: mpiOfMacros(macros) }
}

/** A C source or header. */
interface Source {
  readonly name: string
  readonly text: string
}

interface Sources {
  /** The path of the shared library that is made of them. */
  readonly library: string
  /** The path of the folder to which they are written. */
  readonly sources: string
  readonly files: readonly Source[]
  /** The name of a header that includes `mpi.h`. */
  readonly header: string
}

/**
 * Writes C sources of a library to be preloaded, and compiles them, unless this user has done so before with the same
 * compiler, MPI and options.
 *
 * @returns the macros that the compiler defines after the header
 * @throws ERR_SHIM as {@link compileLibrary}
 */
export function compileSources(
  { library, sources, files, header }: Sources,
  mpicc: string,
  extra: readonly string[],
): string {
  try {
    makeDirectory(sources)
    for (const { name, text } of files) writeFileSync(join(sources, name), text)
  } catch (cause) {
    throw new RankweaveError('ERR_SHIM', `cannot write to ${sources}: ${(cause as Error).message}`, { cause })
  }
  const macros = runCompiler(mpicc, ['-E', '-dM', ...extra, join(sources, header)])
  const key = keyOf({ files, macros }, mpicc, extra)
  if (key !== null && takeLibrary(key, library)) return macros
  const units = files.filter(({ name }) => name.endsWith('.c')).map(({ name }) => join(sources, name))
  runCompiler(mpicc, [...flags, ...extra, '-o', library, ...units, '-ldl', '-lrt', '-lm'])
  if (key !== null) keepLibrary(key, library)
  return macros
}

/**
 * Returns a hash of all that a compilation depends on: sources, options, the command that the MPI compiler stands for,
 * and the macros of the compiler and of `mpi.h`, among them their versions. Null for a compiler that does not show its
 * command, so that its options are unknown.
 */
function keyOf(
  compiled: { readonly files: readonly Source[]; readonly macros: string },
  mpicc: string,
  extra: readonly string[],
): string | null {
  const { error, status, stdout } = spawnSync(mpicc, ['-show'], { encoding: 'utf8' })
  if (error !== undefined || status !== 0) return null
  return sha256()
    .update(JSON.stringify([flags, extra, stdout, compiled]))
    .digest()
}

/** Returns the MPI to which a header `mpi.h` belongs, by the macros that it defines. */
function mpiOfMacros(macros: string): MpiName | null {
  if (/^#define OPEN_MPI\b/m.test(macros)) return 'Open MPI'
  return /^#define MPICH_VERSION\b/m.test(macros) ? 'MPICH' : null
}

/** Returns what the compiler prints. @throws ERR_SHIM if it is missing or fails */
export function runCompiler(mpicc: string, args: readonly string[]): string {
  const { error, signal, status, stderr, stdout } = spawnSync(mpicc, args, {
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  if (error !== undefined) {
    const message = `expected an MPI compiler, but ${mpicc} does not start: ${error.message}`
    throw new RankweaveError('ERR_SHIM', message, { cause: error })
  }
  if (status === 0) return stdout
  const how = signal === null ? `exit code ${status}` : signal
  throw new RankweaveError('ERR_SHIM', `${mpicc} failed (${how}):\n${stderr.trim()}`)
}

/** Returns the C sources of the package that form the library. */
export function ownSources(): readonly Source[] {
  return sourcesIn(
    'shim/c',
    runtimeFiles.map((name) => `export/c/${name}`),
  )
}

/**
 * Returns the C sources and headers of a folder of the package, after others.
 *
 * @param folder below `src`
 * @param others paths below `src`
 * @throws ERR_SHIM if one is missing
 */
export function sourcesIn(folder: string, others: readonly string[] = []): readonly Source[] {
  try {
    const own = readdirSync(ownFile(folder)).filter((name) => /\.[ch]$/.test(name))
    return [...others, ...own.map((name) => `${folder}/${name}`)].map((path) => ({
      name: basename(path),
      text: readFileSync(ownFile(path), 'utf8'),
    }))
  } catch (cause) {
    const reason = (cause as Error).message
    throw new RankweaveError('ERR_SHIM', `C sources are not where the package has them: ${reason}`, { cause })
  }
}

const block = 512

/**
 * Packs the C sources of the library with a Makefile and a manual page, as a gzip-compressed ustar archive of one
 * folder. The same sources give the same bytes.
 *
 * @throws ERR_SHIM if a file of the package is missing, or has a name that ustar cannot hold
 */
export function sourceArchive(folder: string): Uint8Array {
  const others = ['Makefile', 'rankweave_shim.7'].map((name) => ({ name, text: textOf(name) }))
  const files = [...ownSources(), ...others].sort((a, b) => (a.name < b.name ? -1 : 1))
  const parts = files.flatMap(({ name, text }) => {
    const data = Buffer.from(text)
    const padding = Buffer.alloc((block - (data.length % block)) % block)
    return [headerOf(`${folder}/${name}`, data.length), data, padding]
  })
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]))
}

function textOf(name: string): string {
  try {
    return readFileSync(ownFile(`shim/c/${name}`), 'utf8')
  } catch (cause) {
    throw new RankweaveError('ERR_SHIM', `the package lacks ${name}: ${(cause as Error).message}`, { cause })
  }
}

/** Makes a header of POSIX ustar; the time is 0, so that archives are repeatable. */
function headerOf(path: string, length: number): Buffer {
  if (Buffer.byteLength(path) > 100) {
    throw new RankweaveError(
      'ERR_SHIM',
      `expected at most 100 bytes in the path of a file of the archive, got ${path}`,
    )
  }
  const header = Buffer.alloc(block)
  const octal = (value: number, at: number, width: number) =>
    header.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1')
  header.write(path, 0)
  octal(0o644, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(length, 124, 12)
  octal(0, 136, 12)
  header.fill(' ', 148, 156)
  header.write('0ustar\0' + '00', 156, 'latin1')
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  return header
}
