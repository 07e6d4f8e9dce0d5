import { join } from 'node:path'
import { compileSources, sourcesIn } from '../shim/library.js'

export const profilerName = 'librankweave_profile.so'

/**
 * Writes the sources of the profiler into `folder` and compiles them there.
 *
 * @param mpicc the compiler of the MPI with which the programs were compiled that are to be profiled
 * @returns the path of the shared library, to be preloaded before others
 * @throws ERR_SHIM if a C source of the package is missing, the folder cannot be written, or the compiler is missing or
 *   fails
 */
export function compileProfiler(folder: string, mpicc: string): string {
  const library = join(folder, profilerName)
  const sources = join(folder, 'profile-sources')
  const files = sourcesIn('profile/c', ['shim/c/own-mpi.c', 'shim/c/own-mpi.h'])
  compileSources({ library, sources, files, header: 'profile.h' }, mpicc, ['-DRW_TOOL="rankweave profile"'])
  return library
}
