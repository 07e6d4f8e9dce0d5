import { fstatSync, readFileSync, readlinkSync, writeSync } from 'node:fs'
import { RankweaveError } from '../../errors.js'

/** The settings of a launcher in the environment of this process, read before MPI is loaded. */
export interface MpiLauncher {
  readonly name: string
  /** The number of this process among those that were started together, 0-based. */
  readonly process: number
  readonly processes: number
  /** The names under which the library that belongs to it may be found, the likeliest first. */
  readonly libraries: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

const openMpi = ['libmpi.so.40', 'libmpi.so.12', 'libmpi.so.20']
const mpich = ['libmpich.so.12', 'libmpi.so.12']
const standard = ['libmpi_abi.so.0', 'libmpi_abi.so.1', 'libmpi_abi.so']
const any = ['libmpi.so']

/** The launchers, the innermost first: a job of Slurm may start `mpirun`, not the other way round. */
const launchers: readonly (Pick<MpiLauncher, 'name' | 'libraries'> & {
  readonly process: string
  readonly processes: string
})[] = [
  {
    name: "Open MPI's mpirun",
    process: 'OMPI_COMM_WORLD_RANK',
    processes: 'OMPI_COMM_WORLD_SIZE',
    libraries: [...openMpi, ...standard, ...any],
  },
  {
    name: 'Hydra (mpiexec of MPICH, Intel MPI or MVAPICH), or srun --mpi=pmi2',
    process: 'PMI_RANK',
    processes: 'PMI_SIZE',
    libraries: [...standard, ...mpich, ...any, ...openMpi],
  },
  {
    name: 'Slurm (srun)',
    process: 'SLURM_PROCID',
    processes: 'SLURM_STEP_NUM_TASKS',
    libraries: [...standard, ...openMpi, ...mpich, ...any],
  },
]

/** Returns the launcher that started this process; undefined if none did. */
export function mpiLauncher(env: Environment = process.env): MpiLauncher | undefined {
  for (const { name, process: rank, processes: size, libraries } of launchers) {
    const [process, processes] = [whole(env[rank]), whole(env[size])]
    if (process === undefined || processes === undefined || process >= processes) continue
    return { name, process, processes, libraries }
  }
  return undefined
}

/** Returns the names of all launchers' libraries, each once. */
export function launcherLibraries(): readonly string[] {
  return [...new Set(launchers.flatMap(({ libraries }) => libraries))]
}

/** @throws ERR_MPI_LAUNCHER if no launcher started this process, or its connection to the launcher is closed */
export function requireLauncher(env: Environment = process.env): MpiLauncher {
  const launcher = mpiLauncher(env)
  if (launcher !== undefined) {
    requireConnection(env)
    return launcher
  }
  throw new RankweaveError(
    'ERR_MPI_LAUNCHER',
    "fabric mpi: expected to be started by an MPI launcher, such as 'mpirun -n 4 rankweave run program.ts -n 16 " +
      `--fabric mpi' or 'srun'; none of ${launchers.map(({ process }) => process).join(', ')} is set`,
  )
}

/** The number of ancestors between a process and its launcher that are searched, such as shells and wrappers. */
const mostAncestors = 8

/**
 * Sets NO_COLOR unless the user chose, or the launcher's own output is a terminal. Open MPI's launcher gives processes
 * a pseudo-terminal as standard output even if its own is a file, in which colors would appear.
 */
export function settleColors(env: Record<string, string | undefined> = process.env): void {
  if (env['OMPI_COMM_WORLD_RANK'] === undefined || !process.stdout.isTTY) return
  if (env['NO_COLOR'] !== undefined || env['FORCE_COLOR'] !== undefined) return
  if (!/^\/dev\/(pts|tty)/.test(launcherOutput())) env['NO_COLOR'] = '1'
}

/** Returns the file behind the standard output of the first ancestor that has another one; '' if it is unknown. */
function launcherOutput(): string {
  try {
    const own = readlinkSync('/proc/self/fd/1')
    let pid = String(process.ppid)
    for (let n = 0; n < mostAncestors; n++) {
      const output = readlinkSync(`/proc/${pid}/fd/1`)
      if (output !== own) return output
      // The name in parentheses may hold anything; state and parent follow it.
      pid = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1]
    }
  } catch {
    // The platform has no such file, or the process belongs to another user.
  }
  return ''
}

/**
 * @throws ERR_MPI_LAUNCHER if the connection to Hydra is closed. Hydra passes a connected socket as a file descriptor.
 *   npx, and other programs that start a child with its standard streams only, close it. MPI's initialisation would end
 *   the process with `write_line error`.
 */
function requireConnection(env: Environment): void {
  const descriptor = whole(env['PMI_FD'])
  if (descriptor === undefined || isSocket(descriptor)) return
  throw new RankweaveError(
    'ERR_MPI_LAUNCHER',
    `fabric mpi: the connection to the launcher, file descriptor PMI_FD=${descriptor}, is closed in this process, as npx and npm ` +
      "do: start node or the binary directly, such as 'mpirun -n 4 node_modules/.bin/rankweave run program.ts -n 16 --fabric mpi'",
    { details: { descriptor } },
  )
}

function isSocket(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isSocket()
  } catch {
    return false
  }
}

function whole(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** The time for the launcher to forward printed text before a job is aborted; launchers drop the rest. */
const launcherFlushMs = 200

let abortsEarly = false

/**
 * Makes this process abort its job if it exits with a nonzero code before MPI is initialized. Open MPI's launcher does
 * so by itself. Hydra notices the end of a process only if that has initialized MPI, and the others would wait forever.
 * So it gets the abort command of PMI 1.
 */
export function abortJobOnEarlyExit(): void {
  if (abortsEarly) return
  abortsEarly = true
  process.on('exit', onExit)
}

/** Keeps the job when this process exits, because MPI is initialized or about to be. */
export function keepJobOnExit(): void {
  process.off('exit', onExit)
}

/** Blocks until the launcher has had time to forward what was printed. */
export function letLauncherForward(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, launcherFlushMs)
}

function onExit(exitCode: number): void {
  const { HYDI_CONTROL_FD: hydra, PMI_FD: connection } = process.env
  if (exitCode === 0 || hydra === undefined || connection === undefined) return
  letLauncherForward()
  try {
    writeSync(Number(connection), `cmd=abort exitcode=${exitCode}\n`)
  } catch {
    // The connection is closed, as by npx, so the launcher cannot be reached.
  }
}
