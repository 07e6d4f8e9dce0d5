import { type Command, Option } from 'commander'
import * as z from 'zod'
import { RankweaveError, wrongValue } from '../../errors.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import { local } from '../../fabric/local/local.js'
import { mpi } from '../../fabric/mpi/mpi.js'
import { bindings } from '../../fabric/threads/core-binding.js'
import { threads } from '../../fabric/threads/threads.js'
import { longestReportSeconds, type ReportOptions } from '../../launch/processes/report-triggers.js'
import { maxWorldRanks } from '../../messages/process/world-layout.js'
import { websocket } from '../../websocket/factory-nodejs.js'
import { oneOf, seconds, whole } from './options.js'

/** Adds the options of a world, for every subcommand that runs one. */
export function addWorldOptions(command: Command): Command {
  return addFabricOptions(
    command
      .requiredOption('-n, --ranks <number>', 'ranks in the world')
      .option(
        '--processes <number>',
        'processes that host the ranks (default: 1; with mpi all started processes)',
      ),
    'local',
  )
}

/** Adds the options of a world whose processes are measured: 2 or more, with as many ranks as the subcommand needs. */
export function addMeasuredWorldOptions(command: Command): Command {
  return addFabricOptions(
    command.option('--processes <number>', 'processes (default: 2; with mpi all started processes)'),
    'threads',
  )
}

function addFabricOptions(command: Command, byDefault: WorldFlags['fabric']): Command {
  return command
    .addOption(
      new Option('--fabric <name>', 'fabric between processes: local, threads, websocket or mpi').default(
        byDefault,
      ),
    )
    .option('--nodes <number>', 'nodes that host the processes (default: 1; with mpi the actual nodes)')
    .option(
      '--bind-to <what>',
      'with --fabric threads: core, one process to each core, or none (default: none)',
    )
    .option('--mpi-lib <path>', 'file of the MPI library (default: the library of the launcher)')
    .option('--report-after <seconds>', 'after this time, print which rank waits for what on standard error')
}

/** The most logical processes. They are objects in this process, so more would only cost memory. */
const maxProcesses = 4096

/** The schema of {@link addMeasuredWorldOptions}. */
export const measuredWorldSchema = {
  processes: whole(1, maxProcesses).optional(),
  nodes: whole(1, maxProcesses).optional(),
  fabric: oneOf('local', 'threads', 'websocket', 'mpi'),
  bindTo: oneOf(...bindings).optional(),
  mpiLib: z.string().optional(),
  reportAfter: seconds(longestReportSeconds).optional(),
}

export const measuredWorldOptions: readonly string[] = Object.keys(measuredWorldSchema)

export const worldSchema = { ranks: whole(1, maxWorldRanks), ...measuredWorldSchema }

/** Returns the options of reports. SIGUSR2, if the platform has it, requests a report at any time. */
export function reportOf({ reportAfter }: Pick<WorldFlags, 'reportAfter'>): ReportOptions {
  return {
    ...(reportAfter === undefined ? {} : { afterSeconds: reportAfter }),
    ...(process.platform === 'win32' ? {} : { onSignal: 'SIGUSR2' }),
  }
}

export type WorldFlags = z.infer<z.ZodObject<typeof worldSchema>>

const factories = { local, threads, websocket } as const

/** Returns the fabric of a world: nodes host consecutive blocks of processes. @throws ERR_WORLD, ERR_MPI_LAUNCHER */
export function fabricOf(flags: Omit<WorldFlags, 'ranks'>): FabricFactory {
  const { processes, nodes, fabric, bindTo, mpiLib } = flags
  if (bindTo !== undefined && fabric !== 'threads') {
    const instead = fabric === 'mpi' ? ': the launcher binds, mpirun --bind-to core' : ''
    throw new RankweaveError('ERR_USAGE', `--bind-to is for --fabric threads, not for ${fabric}${instead}`)
  }
  if (mpiLib !== undefined && fabric !== 'mpi')
    throw new RankweaveError('ERR_USAGE', `--mpi-lib is for --fabric mpi, not for ${fabric}`)
  if (fabric !== 'mpi') {
    const hosts = processes ?? factories[fabric]().processes
    const got = processes === undefined ? `${hosts}, the default` : `${processes}`
    requireHosts(nodes, hosts, `expected --processes ${nodes} or more, one per node, got ${got}`)
    const options = { processes: hosts, nodes: labels(hosts, nodes ?? 1) }
    return fabric === 'threads' && bindTo !== undefined
      ? threads({ ...options, bindTo })
      : factories[fabric](options)
  }
  const library = mpiLib === undefined ? {} : { library: mpiLib }
  const started = mpi(library).processes
  if (processes !== undefined && processes !== started)
    throw wrongValue('ERR_WORLD', `--processes: the launcher started ${started}`, processes)
  requireHosts(nodes, started, `expected at most ${started}, the processes that the launcher started`)
  return nodes === undefined ? mpi(library) : mpi({ ...library, nodes: labels(started, nodes) })
}

/**
 * Returns the fabric of a world whose processes are measured.
 *
 * @throws ERR_USAGE for one process, and as {@link fabricOf}
 */
export function measuredFabricOf(flags: Omit<WorldFlags, 'ranks'>): FabricFactory {
  const processes = flags.processes ?? (flags.fabric === 'mpi' ? undefined : 2)
  const fabric = fabricOf({ ...flags, ...(processes === undefined ? {} : { processes }) })
  if (fabric.processes >= 2) return fabric
  throw new RankweaveError('ERR_USAGE', '--processes: expected at least 2, got 1')
}

/** Requires at least one process on every node. */
function requireHosts(nodes: number | undefined, processes: number, expected: string): void {
  if (nodes === undefined || nodes <= processes) return
  throw new RankweaveError('ERR_WORLD', `--nodes ${nodes}: ${expected}`)
}

function labels(processes: number, nodes: number): string[] {
  return Array.from({ length: processes }, (_, process) => `node${Math.floor((process * nodes) / processes)}`)
}
