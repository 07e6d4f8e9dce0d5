import { readFileSync, realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { RankweaveError, reasonText } from '../../errors.js'
import { launcherLibraries } from './mpi-launcher.js'
import { identifyMpi, loadKoffi } from './mpi-library.js'

/** An MPI library on this machine. */
interface FoundMpi {
  /** The path of its file if the platform reports it, else the name by which it was loaded. */
  readonly path: string
  /** The first line of the version that it reports. */
  readonly version: string
  readonly abi: string
}

/**
 * Returns the MPI libraries that the loader finds by the names of all launchers, or the named one. MPI is not
 * initialised: a library reports its version before.
 *
 * @throws ERR_MPI_KOFFI; ERR_MPI_LIBRARY when there is none
 */
export async function findMpiLibraries(named?: string): Promise<readonly FoundMpi[]> {
  const koffi = await loadKoffi()
  const found = new Map<string, FoundMpi>()
  const failures: string[] = []
  for (const name of named === undefined ? launcherLibraries() : [named]) {
    try {
      // The symbols are local, so that those of one library are not taken for those of another.
      const library = koffi.load(name)
      const { version, abi } = identifyMpi(koffi, name, library)
      const path = loadedFile(name) ?? name
      if (!found.has(path)) found.set(path, { path, version, abi: abi.name })
    } catch (cause) {
      failures.push(`${name}: ${reasonText(cause)}`)
    }
  }
  if (found.size > 0) return [...found.values()]
  const message = `no MPI library was found: install Open MPI or MPICH, or name a library with --mpi-lib PATH. Tried\n  ${failures.join('\n  ')}`
  throw new RankweaveError('ERR_MPI_LIBRARY', message)
}

/** Returns the file that was mapped for a name, if Linux reports it. */
function loadedFile(name: string): string | undefined {
  try {
    if (name.includes('/')) return realpathSync(name)
    const maps = readFileSync('/proc/self/maps', 'utf8')
    const files = new Set(maps.match(/\/\S+$/gm) ?? [])
    for (const file of files) {
      const beside = `${file.slice(0, file.lastIndexOf('/'))}/${name}`
      if (basename(file).startsWith('lib') && file === real(beside)) return file
    }
  } catch {
    // Other platforms do not list mappings, so the name has to do.
  }
  return undefined
}

function real(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
