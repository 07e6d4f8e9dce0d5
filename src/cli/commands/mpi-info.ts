import { z } from 'zod'
import { joinMpiJob } from '../../fabric/mpi/mpi-job.js'
import { type AddCommand, exitCodes } from '../command.js'
import { parseOptions } from '../input/options.js'
import { leaveMpi } from '../output/mpi-streams.js'
import { counted, type Reporter, table } from '../output/reporter.js'

const help = `
Start it as you would start your program; process 0 answers for all.

Examples:
  mpirun -n 4 rankweave mpi-info
  srun -n 128 rankweave mpi-info --json
  mpirun -n 2 rankweave mpi-info --mpi-lib /opt/openmpi/lib/libmpi.so`

const schema = z.object({ mpiLib: z.string().optional() })

/** `rankweave mpi-info`: what of MPI was found. */
export const mpiInfoCommand: AddCommand = (program, act) => {
  program
    .command('mpi-info')
    .description('Tell which MPI was found: library, version, interface, processes, nodes.')
    .option('--mpi-lib <path>', 'file of the MPI library (default: the one that belongs to the launcher)')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown) => {
        const { mpiLib } = parseOptions(schema, raw)
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
        return exitCodes.ok
      }),
    )
}

/** Listed in text; --json has them all. */
const shownNodes = 8
