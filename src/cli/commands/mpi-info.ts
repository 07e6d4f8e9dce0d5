import { findMpiLibraries } from '../../fabric/mpi/mpi-discovery.js'
import { joinMpiJob } from '../../fabric/mpi/mpi-job.js'
import { mpiLauncher } from '../../fabric/mpi/mpi-launcher.js'
import { addOptions, json, option, readOptions } from '../input/options.js'
import { counted, type Reporter, table } from '../output/reporter.js'
import { leaveMpi } from '../program/run-own-program.js'
import type { AddCommand } from './command.js'

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
        const object = {
          library: library.path,
          version: library.version,
          abi: library.abi.name,
          threadLevel,
          launcher: launcher.name,
          processes,
          nodes: Object.fromEntries(perNode),
        }
        const shown = [...perNode].map(
          ([node, count]) => `${node}: ${counted(count, 'process', 'processes')}`,
        )
        report.result(
          object,
          table([
            ['library', library.path],
            ['version', library.version],
            ['interface', library.abi.name],
            ['thread level', threadLevel],
            ['launcher', launcher.name],
            ['processes', String(processes)],
            [
              'nodes',
              `${perNode.size}: ${shown.slice(0, shownNodes).join(', ')}${shown.length > shownNodes ? ', ...' : ''}`,
            ],
          ]),
        )
      }),
    )
}

/** Lists the libraries of this machine, outside a job. */
async function listLibraries(report: Reporter, named: string | undefined): Promise<void> {
  const libraries = await findMpiLibraries(named)
  const rows = libraries.flatMap(({ path, version, abi }) => [
    ['library', path] as const,
    ['version', version] as const,
    ['interface', abi] as const,
  ])
  report.result(
    { launcher: null, libraries },
    table([...rows, ['launcher', 'none: not started by mpirun or srun']]),
  )
}

/** The number of nodes listed in text; --json lists all. */
const shownNodes = 8
