import { readFileSync, realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { RankweaveError, reasonText } from '../../errors.js'
import { joinMpiJob } from '../../fabric/mpi/mpi-job.js'
import { launcherLibraries, mpiLauncher } from '../../fabric/mpi/mpi-launcher.js'
import { identifyMpi, loadKoffi } from '../../fabric/mpi/mpi-library.js'
import { addOptions, json, option, readOptions } from '../input/options.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted, held, row, shown } from '../output/result-rows.js'
import { leaveMpi } from '../program/run-program.js'

const help = `
Started by an MPI launcher: the library of the job, its processes and nodes; process 0 reports for all.
Started otherwise: the MPI libraries of this machine. Exit code 2 when there is none.

Examples:
  rankweave mpi-info
  mpirun -n 4 rankweave mpi-info
  srun -n 128 rankweave mpi-info --json
  mpirun -n 2 rankweave mpi-info --mpi-lib /opt/openmpi/lib/libmpi.so`

const optionTable = {
  mpiLib: option('--mpi-lib <path>', 'file of the MPI library (default: the library of the launcher)'),
  json,
}

export const mpiInfoCommand: AddCommand = (command, act) => {
  addOptions(command, optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown) => {
        const { mpiLib } = readOptions(optionTable, raw)
        if (mpiLauncher() === undefined) return await listLibraries(report, mpiLib)
        const { library, launcher, threadLevel, processes, nodes } = await joinMpiJob(mpiLib)
        await leaveMpi()
        const perNode = new Map<string, number>()
        for (const node of nodes) perNode.set(node, (perNode.get(node) ?? 0) + 1)
        const counts = [...perNode].map(
          ([node, count]) => `${node}: ${counted(count, 'process', 'processes')}`,
        )
        const more = counts.length > shownNodes ? ', ...' : ''
        report.rows([
          row('library', library.path),
          row('version', library.version),
          row('abi', library.abi.name, 'interface'),
          row('threadLevel', threadLevel, 'thread level'),
          row('launcher', launcher.name),
          row('processes', processes, 'processes', String(processes)),
          row(
            'nodes',
            Object.fromEntries(perNode),
            'nodes',
            `${perNode.size}: ${counts.slice(0, shownNodes).join(', ')}${more}`,
          ),
        ])
      }),
    )
}

/** Lists the libraries of this machine, outside a job. */
async function listLibraries(report: Reporter, named: string | undefined): Promise<void> {
  const libraries = await findMpiLibraries(named)
  const found = libraries.flatMap(({ path, version, abi }) => [
    shown('library', path),
    shown('version', version),
    shown('interface', abi),
  ])
  const none = 'none: not started by mpirun or srun'
  report.rows([held({ launcher: null, libraries }), ...found, shown('launcher', none)])
}

/** The number of nodes listed in text; --json lists all. */
const shownNodes = 8

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
async function findMpiLibraries(named?: string): Promise<readonly FoundMpi[]> {
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
