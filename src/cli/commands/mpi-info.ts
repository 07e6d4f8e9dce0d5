import { findMpiLibraries } from '../../fabric/mpi/mpi-discovery.js'
import { joinMpiJob } from '../../fabric/mpi/mpi-job.js'
import { mpiLauncher } from '../../fabric/mpi/mpi-launcher.js'
import { addOptions, json, option, readOptions } from '../input/options.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted, held, row, shown } from '../output/result-rows.js'
import { leaveMpi } from '../program/run-own-program.js'

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
