import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { RankweaveError } from '../errors.js'
import { shellWord } from '../text/printable.js'

export type MpiName = 'Open MPI' | 'MPICH'

type Variables = Readonly<Record<string, string>>

/** A launcher's way to hand variables of the environment to the processes of a program, and not to itself. */
interface Launcher {
  readonly name: MpiName | 'Slurm'
  readonly version: RegExp
  /** Whether each program of a command, divided by `:`, has separate variables. */
  readonly perProgram: boolean
  options(variables: Variables): readonly string[]
}

const launchers: readonly Launcher[] = [
  {
    name: 'Open MPI',
    version: /Open ?MPI|OpenRTE|PRRTE/i,
    perProgram: true,
    options: (variables) => Object.entries(variables).flatMap(([name, value]) => ['-x', `${name}=${value}`]),
  },
  {
    name: 'MPICH',
    version: /HYDRA/i,
    perProgram: false,
    options: (variables) => Object.entries(variables).flatMap(([name, value]) => ['-genv', name, value]),
  },
  {
    name: 'Slurm',
    version: /^slurm/i,
    perProgram: true,
    options: (variables) => [`--export=${['ALL', ...Object.entries(variables).map(exported)].join()}`],
  },
]

/** Writes a variable for `srun --export`, where a comma would end it. @throws ERR_SHIM */
function exported([name, value]: readonly [string, string]): string {
  if (!value.includes(',')) return `${name}=${value}`
  throw new RankweaveError('ERR_SHIM', `srun: expected a value of ${name} without commas, got ${value}`)
}

const launcherName = /^(mpirun|mpiexec|orterun)(?=\.|$)/

/** The machine on which the compiler of a launcher is looked for. */
interface CompilerSite {
  isFile(path: string): boolean
  /** Returns the compilers of MPI on the machine, one path of each. */
  compilers(): readonly string[]
}

/**
 * Returns the compiler that belongs to the launcher of a command. The compiler of `mpirun` and similar launchers is in
 * the same folder: `mpicc.mpich` of `mpirun.mpich`, `mpicc` of `mpiexec.hydra`, which is named by how it starts
 * processes. Another launcher, such as `srun`, does not show its MPI: then it is the only compiler of the machine.
 *
 * @throws ERR_SHIM if the launcher does not show its MPI, and the machine has none or several
 */
export function compilerOfCommand(
  [launcher = '']: readonly string[],
  site: CompilerSite = thisMachine,
): string {
  const name = basename(launcher)
  if (launcherName.test(name)) {
    const own = name.replace(launcherName, 'mpicc').replace(/\.hydra$/, '')
    if (!launcher.includes('/')) return own
    const path = join(dirname(launcher), own)
    if (site.isFile(path)) return path
  }
  const compilers = site.compilers()
  if (compilers.length === 1) return compilers[0]
  const got = compilers.length === 0 ? 'finds none' : `finds ${compilers.join(', ')}`
  throw new RankweaveError(
    'ERR_SHIM',
    `expected --mpicc with the compiler of the MPI that '${launcher}' starts, which its name does not show; PATH ${got}`,
  )
}

const thisMachine: CompilerSite = {
  isFile: existsSync,
  compilers: () => compilersOfPath(process.env['PATH']),
}

/** Lists files `mpicc` and `mpicc.NAME` of the folders of PATH, each program once. */
export function compilersOfPath(path = ''): readonly string[] {
  const byProgram = new Map<string, string>()
  for (const folder of path.split(delimiter).filter((name) => name !== '')) {
    for (const name of namesIn(folder).filter((one) => /^mpicc(\.[\w.]+)?$/.test(one))) {
      const file = join(folder, name)
      const program = existsSync(file) ? realpathSync(file) : null
      if (program !== null && !byProgram.has(program)) byProgram.set(program, file)
    }
  }
  return [...byProgram.values()]
}

/** Lists names in order, so that `mpicc` comes before `mpicc.mpich`; none of a folder that cannot be read. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/** Returns the launcher that belongs to a compiler: `mpirun.mpich` of `mpicc.mpich`. */
function launcherOfCompiler(mpicc: string): string {
  const name = basename(mpicc).startsWith('mpicc') ? basename(mpicc).replace('mpicc', 'mpirun') : 'mpirun'
  return mpicc.includes('/') ? join(dirname(mpicc), name) : name
}

/** The machine and user for whom a program is launched. */
interface LaunchSite {
  readonly cores: number
  readonly isRoot: boolean
}

/**
 * Returns a line for a shell that starts `./program` on so many processes, with variables of the environment. Open MPI
 * starts more processes than cores, and processes of root, only when an option permits it.
 */
export function launchLine(
  mpi: MpiName,
  mpicc: string,
  processes: number,
  variables: Variables,
  { cores, isRoot }: LaunchSite,
): string {
  const own = launchers.find(({ name }) => name === mpi)!.options(variables)
  const permitted =
    mpi === 'Open MPI'
      ? [...(isRoot ? ['--allow-run-as-root'] : []), ...(processes > cores ? ['--oversubscribe'] : [])]
      : []
  return [launcherOfCompiler(mpicc), ...permitted, '-n', String(processes), ...own, './program']
    .map(shellWord)
    .join(' ')
}

/** A host, and the processes that a job starts there. */
export interface HostPlaces {
  readonly host: string
  readonly processes: number
}

/**
 * Returns the words that start a program on so many processes by `mpirun`, on what its scheduler or host offers or on
 * given hosts, also where they share cores.
 *
 * @param hosts where they run, written to `hostFile`; null: what `mpirun` chooses
 * @throws ERR_SHIM as {@link launcherNameOf}
 */
export function measuringLaunch(
  launcher: string,
  processes: number,
  hosts: readonly HostPlaces[] | null,
  hostFile: string,
): readonly string[] {
  const isMpich = launcherNameOf([launcher]) === 'MPICH'
  const isRoot = process.getuid?.() === 0
  const lines = hosts?.map(({ host, processes }) =>
    isMpich ? `${host}:${processes}` : `${host} slots=${processes}`,
  )
  if (lines !== undefined) writeFileSync(hostFile, `${lines.join('\n')}\n`)
  return [
    launcher,
    ...(isMpich ? [] : [...(isRoot ? ['--allow-run-as-root'] : []), '--oversubscribe']),
    ...(lines === undefined ? [] : [isMpich ? '-f' : '--hostfile', hostFile]),
    ...['-n', String(processes)],
  ]
}

/**
 * Returns a command that starts an MPI program, with variables of the environment for its processes.
 *
 * @param versionOf what a launcher prints of itself; null if it does not start
 * @throws ERR_SHIM if the command does not begin with `mpirun` or `mpiexec` of Open MPI or MPICH or with `srun`, or
 *   sets one of the variables itself, or any by `srun --export`
 */
export function withVariables(
  command: readonly string[],
  variables: Variables,
  versionOf: (launcher: string) => string | null = printedVersion,
): readonly string[] {
  const [launcher = '', ...words] = command
  const kind = launcherOf(command, variables, versionOf)
  const taken = [...Object.keys(variables), ...(kind.name === 'Slurm' ? ['--export'] : [])]
  for (const name of taken) {
    if (!words.some((word) => word.split('=')[0] === name)) continue
    throw new RankweaveError('ERR_SHIM', `expected a command that leaves ${name} alone, got one that sets it`)
  }
  const options = kind.options(variables)
  const own = words.flatMap((word) => (word === ':' && kind.perProgram ? [word, ...options] : [word]))
  return [launcher, ...options, ...own]
}

/** Returns the MPI whose launcher starts a command. @throws ERR_SHIM as {@link withVariables} */
export function launcherNameOf(command: readonly string[]): MpiName | 'Slurm' {
  return launcherOf(command, {}, printedVersion).name
}

/** Returns what `--version` of a launcher prints first. @throws ERR_SHIM if it does not start or is of another MPI */
export function launcherVersion(launcher: string): string {
  const printed = printedVersion(launcher)
  if (printed === null) throw new RankweaveError('ERR_SHIM', `${launcher} is not on PATH or does not start`)
  launcherNameOf([launcher])
  return printed.trim().split('\n').slice(0, 2).join(' ')
}

function launcherOf(
  [launcher = '']: readonly string[],
  variables: Variables,
  versionOf: (launcher: string) => string | null,
): Launcher {
  const name = basename(launcher)
  if (!launcherName.test(name) && name !== 'srun')
    throw unknownLauncher(launcher, 'another program', variables)
  const printed = versionOf(launcher)
  if (printed === null) throw unknownLauncher(launcher, 'one that does not start', variables)
  const kind = launchers.find(({ version }) => version.test(printed))
  if (kind !== undefined) return kind
  throw unknownLauncher(launcher, `one of another MPI: ${printed.trim().split('\n')[0]}`, variables)
}

/** The time after which a launcher that prints no version is taken to hang. */
const versionMs = 10_000

function printedVersion(launcher: string): string | null {
  const { error, stdout, stderr } = spawnSync(launcher, ['--version'], {
    encoding: 'utf8',
    timeout: versionMs,
  })
  return error === undefined ? stdout + stderr : null
}

function unknownLauncher(launcher: string, got: string, variables: Variables): RankweaveError {
  const task = variables['RANKWEAVE_SHIM']?.split(':')[0]
  const advice =
    task === undefined
      ? 'the program is started many times with other settings, so write the line of such a launcher, not a script or another launcher that runs it'
      : `with another launcher set LD_PRELOAD and RANKWEAVE_SHIM=${task === 'matching' ? 'matching:FOLDER' : 'record:FILE'} for the processes yourself`
  return new RankweaveError(
    'ERR_SHIM',
    `expected a command that begins with srun, or mpirun or mpiexec of Open MPI or MPICH, got '${launcher}', ${got}; ${advice}`,
  )
}
