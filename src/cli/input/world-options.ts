import { RankweaveError, wrongValue } from '../../errors.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import { local } from '../../fabric/local/local.js'
import { mpi } from '../../fabric/mpi/mpi.js'
import { bindings } from '../../fabric/threads/core-binding.js'
import { threads } from '../../fabric/threads/threads.js'
import { threadsOfRanks } from '../../fabric/threads/threads-connect.js'
import { longestReportSeconds, type ReportOptions } from '../../launch/processes/report-triggers.js'
import {
  type OnlineRequest,
  onlineRequestOf,
  refuseOnline,
  tuningGiven,
} from '../../launch/processes/tuning-option.js'
import { checkWorldMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { mailboxDesigns } from '../../messages/process/matching-options.js'
import { maxWorldRanks } from '../../messages/process/world-layout.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'
import { websocket } from '../../websocket/websocket-factory-nodejs.js'
import { type OptionValues, oneOf, option, required, seconds, whole } from './options.js'

/** The most logical processes. They are objects in this process, so more would only cost memory. */
const maxProcesses = 4096

const processes = whole(1, maxProcesses)

const fabricOptions = (byDefault: 'local' | 'threads') => ({
  fabric: option(
    '--fabric <name>',
    'fabric between processes: local, threads, websocket or mpi',
    oneOf('local', 'threads', 'websocket', 'mpi'),
    byDefault,
  ),
  nodes: option(
    '--nodes <number>',
    'nodes that host the processes (default: 1; with mpi the actual nodes)',
    whole(1, maxProcesses),
  ),
  bindTo: option(
    '--bind-to <what>',
    'with --fabric threads: core, one process to each core, or none (default: none)',
    oneOf(...bindings),
  ),
  mpiLib: option('--mpi-lib <path>', 'file of the MPI library (default: the library of the launcher)'),
  reportAfter: option(
    '--report-after <seconds>',
    'after this time, print which rank waits for what on standard error',
    seconds(longestReportSeconds),
  ),
})

/** The options of a world, for every subcommand that runs one. */
export const worldOptions = {
  ranks: required('-n, --ranks <number>', 'ranks in the world', whole(1, maxWorldRanks)),
  processes: option(
    '--processes <number>',
    'processes that host the ranks (default: 1 on local; on threads one per core, at most one per rank; 2 on websocket; all that are started on mpi)',
    processes,
  ),
  ...fabricOptions('local'),
}

/** The options of a world whose processes are measured: 2 or more, with as many ranks as the subcommand needs. */
export const measuredWorldOptions = {
  processes: option(
    '--processes <number>',
    'processes (default: 2; with mpi all started processes)',
    processes,
  ),
  ...fabricOptions('threads'),
}

/** Returns the options of reports. SIGUSR2, if the platform has it, requests a report at any time. */
export function reportOf({ reportAfter }: Pick<WorldFlags, 'reportAfter'>): ReportOptions {
  return {
    ...(reportAfter === undefined ? {} : { afterSeconds: reportAfter }),
    ...(process.platform === 'win32' ? {} : { onSignal: 'SIGUSR2' }),
  }
}

type WorldFlags = OptionValues<typeof worldOptions>

const factories = { local, threads, websocket } as const

/**
 * Returns the fabric of a world: nodes host consecutive blocks of processes.
 *
 * @param flags without `ranks` the default is 2 threads
 * @throws ERR_WORLD, ERR_MPI_LAUNCHER
 */
export function fabricOf(
  flags: Omit<WorldFlags, 'ranks'> & { readonly ranks?: number | undefined },
): FabricFactory {
  const { ranks, processes, nodes, fabric, bindTo, mpiLib } = flags
  if (bindTo !== undefined && fabric !== 'threads') {
    const instead =
      fabric === 'mpi' ? ': the launcher binds, mpirun --bind-to core' : '; add --fabric threads'
    throw new RankweaveError('ERR_USAGE', `--bind-to is for --fabric threads, not for ${fabric}${instead}`)
  }
  if (mpiLib !== undefined && fabric !== 'mpi')
    throw new RankweaveError('ERR_USAGE', `--mpi-lib is for --fabric mpi, not for ${fabric}`)
  if (fabric !== 'mpi') {
    const byRanks = fabric === 'threads' && ranks !== undefined
    const hosts = processes ?? (byRanks ? threadsOfRanks(ranks) : factories[fabric]().processes)
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

/** The option of every subcommand that runs or opens a world for the user's program. */
export const worldMachineOption = {
  machine: option(
    '--machine <text>',
    'nodes and cores of the ranks, e.g. cluster:nodes=4,cores=16: rank r is on core r (default: the nodes of the processes)',
  ),
}

/** Returns the machine of a world, read before it starts; undefined without one. @throws ERR_MACHINE, ERR_FILE */
export async function worldMachineOf({
  machine: text,
  ranks,
}: {
  readonly machine?: string | undefined
  readonly ranks: number
}): Promise<Machine | undefined> {
  if (text === undefined) return undefined
  // The import comes late: it loads readers of files that most worlds do not need.
  const { readMachine } = await import('./machine-input.js')
  const { machine } = readMachine(text)
  checkWorldMachine(machine, ranks)
  return machine
}

const tuningOptionOf = (others: string) => ({
  tuning: option(
    '--tuning <file>',
    `file of rankweave tune that chooses the algorithms of collectives${others} (default: RANKWEAVE_TUNING)`,
  ),
})

/** The option of every subcommand that runs a world whose collectives a tuning file chooses. */
export const tuningOption = tuningOptionOf('')

/** The option of subcommands whose world may also tune online. */
export const onlineTuningOption = tuningOptionOf(', or online:FOLDER or tuned:FOLDER')

/** Returns the tuning file of a world, read before it starts; null without one. @throws ERR_FILE, ERR_TUNING */
export async function tuningOf(
  { tuning }: { readonly tuning?: string | undefined },
  fabric: string,
): Promise<TuningFile | null> {
  const where = tuning === undefined ? 'RANKWEAVE_TUNING' : '--tuning'
  const given = refuseOnline(where, tuningGiven(tuning))
  if (given === null) return null
  // Most worlds have no tuning, and start without its readers.
  const { loadTuning } = await import('../../launch/processes/load-tuning.js')
  return loadTuning(where, given, fabric)
}

/**
 * Returns the tuning of a run or of a process that joins, which may tune online.
 *
 * @param mayBeElsewhere whether rank 0, whose machine a model must be of, may run on another host
 */
export async function tuningOfRun(
  options: { readonly tuning?: string | undefined },
  fabric: string,
  mayBeElsewhere = false,
): Promise<TuningFile | OnlineRequest | null> {
  const request = onlineRequestOf(tuningGiven(options.tuning))
  if (request === undefined) return tuningOf(options, fabric)
  // An error in the folder is one of the command, not of the program.
  const { loadOnline, loadOnlineHere } = await import('../../launch/processes/load-online.js')
  const load = mayBeElsewhere ? loadOnline : loadOnlineHere
  await load(options.tuning === undefined ? 'RANKWEAVE_TUNING' : '--tuning', request, fabric)
  return request
}

/** The option of every subcommand that runs or opens a world whose messages the user's program matches. */
export const matchingDesignOption = {
  matchingDesign: option(
    '--matching-design <name>',
    `structure of matching queues: ${mailboxDesigns.join(', ')} (default: ${mailboxDesigns[0]})`,
    oneOf(...mailboxDesigns),
  ),
}
