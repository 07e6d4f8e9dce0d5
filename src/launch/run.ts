import {
  flagOption,
  integerOption,
  type OptionTable,
  objectOption,
  signalOption,
  uncheckedOption,
  uncheckedOptions,
} from '../base/option.js'
import { checkOptions, givenOptions } from '../base/option-table.js'
import { RankweaveError, wrongValue } from '../errors.js'
import type { FabricFactory, FabricKind } from '../fabric/fabric.js'
import { local } from '../fabric/local/local.js'
import { mpi } from '../fabric/mpi/mpi.js'
import { abortJobOnEarlyExit, mpiLauncher } from '../fabric/mpi/mpi-launcher.js'
import { threads } from '../fabric/threads/threads.js'
import { threadsOfRanks } from '../fabric/threads/threads-connect.js'
import { checkWorldMachine } from '../machine/check-machine.js'
import { type Machine, machineOption } from '../machine/machine.js'
import {
  checkTraceOptions,
  type MatchingOptions,
  matchingOptions,
} from '../messages/process/matching-options.js'
import { maxWorldRanks } from '../messages/process/world-layout.js'
import type { TuningFile } from '../tuning/models/tuning-file.js'
import { websocket } from '../websocket/websocket-factory-nodejs.js'
import { EventLoopWatch } from '../world/event-loop.js'
import {
  type HostedMain,
  hostedOption,
  type Main,
  programOf,
  requireHostedForm,
} from '../world/user-program.js'
import type { WorldOptions } from '../world/world.js'
import { prepareTraceDirectory } from './processes/matching-trace-files.js'
import { installMailboxDesigns } from './processes/optional-parts.js'
import { type ReportOptions, reportOptions } from './processes/report-triggers.js'
import type { Launcher, LoadedTuning } from './processes/session-launcher.js'
import { onlineRequestOf, type TuningOption, tuningGiven } from './processes/tuning-option.js'
import { launchThreads } from './threads-launcher.js'

export type { HostedMain, HostedResults, Main } from '../world/user-program.js'

export interface RunOptions<A = unknown, T = unknown> {
  /** The number of ranks of the world, 1 to 2^22. */
  readonly ranks: number
  /**
   * The number of processes of the fabric; default 1 for `local`, 2 for `websocket`, and for `threads` one for each core
   * that this program may use, but at most one for each rank. A factory has its own number; if both are given they must
   * be equal.
   */
  readonly processes?: number
  /**
   * The fabric. `local` (default): logical processes in this thread. `mpi`: the processes that an MPI launcher started,
   * each of which makes this same call. Or a fabric's factory, e.g. `local({ seed, nodes })`.
   */
  readonly fabric?: 'local' | 'mpi' | FabricFactory
  /** The value passed to every `main` unchanged; to other threads and processes as a structured clone. */
  readonly args?: A
  /**
   * The signal that ends the world: all waits fail, and `run` rejects with ERR_ABORTED whose cause is the signal's
   * reason.
   */
  readonly signal?: AbortSignal
  /**
   * The payload bytes up to which a message is sent at once; larger ones wait for their receive. Default 64 KiB, and on
   * `websocket` up to 32 MiB for messages of collectives.
   */
  readonly eagerLimitBytes?: number
  /**
   * The bytes that one process may have in flight to another in messages that no receive has taken; beyond it sends
   * wait. Each message counts its payload and 64 bytes. Default 16 MiB, on `websocket` 32 MiB.
   */
  readonly creditBytes?: number
  /**
   * Whether a module's export `hosted`, if it has one, runs once per process instead of the default export. Default
   * true; false: only the default export runs. For a `main` that is a function, which has no exports: its hosted form.
   */
  readonly hosted?: boolean | HostedMain<T, A>
  /**
   * Whether ranks that can never continue fail with ERR_DEADLOCK and a report (default: true). False: they are left
   * waiting.
   */
  readonly detectDeadlock?: boolean
  /**
   * Whether errors and reports name the line of the program that made a call. Costs a stack trace per call that waits;
   * a process retains at most 64 per rank. Default false, at no cost.
   */
  readonly diagnose?: boolean
  /**
   * The triggers of reports on blocked ranks while the world runs. Default: never; `worldReport` covers this thread's
   * worlds.
   */
  readonly report?: ReportOptions
  /**
   * The tuning file that decides which algorithms collectives use: its path, its URL or its content. It is read once,
   * in this process; on `mpi` once in every process. Default: the file that the environment variable RANKWEAVE_TUNING
   * names, if it does; null: none, so that the rule decides.
   */
  readonly tuning?: TuningOption
  /**
   * The machine on which the world runs: rank r of the world is on core r. A `reorder` and strategies of topologies
   * read it if their options name none. With a profile, `auto` is the default strategy. On `mpi` all processes pass the
   * same. Default: only the nodes of the processes are known (docs/placement.md#the-machine-of-a-world).
   */
  readonly machine?: Machine
  /**
   * The options of message matching: counts, which `describe().matching` has; records, in files; and the design of its
   * queues. Default: nothing, and the index (docs/diagnosing-hangs.md#how-long-queues-are, docs/message-matching.md).
   */
  readonly matching?: MatchingOptions
}

/** The options of {@link run} for the URL of a module; a function cannot cross threads or processes. */
export interface ModuleRunOptions<A = unknown, T = unknown> extends Omit<RunOptions<A, T>, 'fabric'> {
  /**
   * The fabric, as for functions; or `threads`: worker threads; or `websocket`: processes of this host. Each of these
   * loads the module.
   */
  readonly fabric?: 'local' | 'threads' | 'websocket' | 'mpi' | FabricFactory
}

/**
 * Runs a world: `main` once for every rank, each with its own handle on the communicator of all ranks.
 *
 * A program may be written for all ranks of a process at once. A module exports `hosted(worlds, args)` in addition to
 * its default export, or a function is given with the option `hosted`. It is called once per process with the handles
 * of all ranks there. It returns one value for each, or undefined. An error that it throws counts for all its ranks and
 * names the first.
 *
 * On `threads` every process is a worker thread that loads the program itself. `main` is then the URL of a module,
 * TypeScript or JavaScript, whose default export is called once per rank; results and errors come back as structured
 * clones and records. A worker that ends early (an uncaught error, `process.exit`, out of memory) is a lost process.
 * Operations that involve its ranks fail with ERR_PEER_LOST, and all others run to their end. Then `run` rejects,
 * unless the ranks that live have acknowledged the loss (`ackFailed`, `shrink`).
 *
 * On `websocket` every process is one of the operating system, started by this call and connected by WebSockets over
 * loopback; the rest is as on `threads`. For processes on other hosts see `host` and `join`.
 *
 * On `mpi` every process that the launcher started calls `run` with the same options. Process 0 gets the
 * values that all ranks returned, the others those of their own ranks; an error reaches all of them. A
 * process that ends too early ends the whole job, as does one that has not ended a failed world within 5
 * seconds.
 *
 * The first error ends the world. Every wait that is pending then, and every later call, fails with
 * ERR_WORLD_ENDED whose cause is that error; no handler is needed. Code of other ranks that waits for
 * something else continues, and its value is ignored. Messages that have not been received when every rank
 * has returned are dropped. Node prints a warning of them, and of calls that have not ended.
 *
 * When every rank waits and nothing can wake them, all waits fail with ERR_DEADLOCK, which reports what each rank waits
 * for. Timers, sockets and file operations that the program started since `run` was called can wake a rank. So can
 * waits with a signal, and other worlds of the same thread with frames in flight. A timer from before, or a rank of
 * another world that is awake, delays the report by 3 seconds. Node does not distinguish timers, nor report what a rank
 * awaits. Node does not report compression and cryptography on its thread pool: if such work is to wake a rank while
 * all of them wait, pass `detectDeadlock: false`.
 *
 * A URL says nothing about the type of the results: state it, `run<Result>(new URL('./program.ts',
 * import.meta.url), options)`, or get `unknown[]`. The type of `args` is then stated too, `run<Result, Args>`.
 *
 * @returns the values that the ranks' mains returned, in rank order, `undefined` for lost ranks whose loss
 *   was survived; on `mpi` see above
 * @throws the first error of a rank, that same object; from another thread, an error rebuilt from its record
 * @throws ERR_PROGRAM when a module cannot be loaded, ERR_CLONE for args or results that cannot cross threads
 *   or processes, ERR_WORKER when the file that these start from is not found
 * @throws ERR_MPI_LAUNCHER, ERR_MPI_LIBRARY, ERR_MPI_KOFFI on `mpi`; ERR_KOFFI for threads bound to cores
 * @throws ERR_FILE for the directory and the files of `matching.trace`; then the world has ended
 * @throws ERR_FILE, ERR_TUNING for a tuning file that cannot be read or is not for this world; on `mpi`
 *   ERR_TUNING_MISMATCH where processes have different ones
 * @throws ERR_MACHINE for a machine that is not valid, or has fewer cores than ranks; on `mpi` ERR_MACHINE_MISMATCH
 *   where processes pass different ones
 * @throws ERR_WORLD, ERR_ARGUMENT for options; ERR_WORLD_ABORTED through `world.abort`; ERR_ABORTED through
 *   `signal`; ERR_DEADLOCK; ERR_UNFINISHED in place of that warning, with `diagnose`; ERR_PEER_LOST when a process was
 *   lost whose ranks had not returned, and that was not survived
 * @see MPI-4.1 §11.2 (MPI_Init, MPI_Finalize, MPI_Abort)
 */
export function run<T, A = undefined>(main: URL, options: ModuleRunOptions<A, T>): Promise<T[]>
export function run<T, A = undefined>(main: Main<T, A> | URL, options: RunOptions<A, T>): Promise<T[]>
export async function run<T, A = undefined>(
  main: Main<T, A> | URL,
  options: ModuleRunOptions<A, T>,
): Promise<T[]> {
  // Watch before anything else runs: activities that the caller starts besides this world may wake it.
  const eventLoop = new EventLoopWatch()
  installMailboxDesigns()
  const factory = checked(main, options)
  const { ranksPerProcess } = factory
  const { ranks, args, signal, eagerLimitBytes, creditBytes, detectDeadlock, diagnose, report } = options
  const { hosted, machine } = options
  const { trace } = options.matching ?? {}
  const matching =
    trace === undefined ? options.matching : { ...options.matching, trace: prepareTraceDirectory(trace) }
  const tuning = loadedTuning(options.tuning, factory)
  const world: WorldOptions<A> = {
    ranks,
    ...givenOptions({
      ranksPerProcess,
      args,
      eagerLimitBytes,
      creditBytes,
      detectDeadlock,
      diagnose,
      machine,
      matching,
    }),
  }
  if (factory.isJob !== true) warnOfCopies(factory.kind)
  const launch = launchers[factory.kind] ?? launchSession
  const request = {
    program: main instanceof URL ? main : programOf(main, hosted),
    hosted: hosted !== false,
    ...{ world, tuning, signal, report, eventLoop },
  }
  // In a job the order of calls counts, so nothing is awaited before.
  if (tuning === undefined || factory.isJob === true) return launch<T, A>(factory, request)
  return launch<T, A>(factory, { ...request, world: { ...world, ...(await tuning) } })
}

/** Returns the tuning of a world; undefined without one. */
function loadedTuning(
  option: TuningOption | undefined,
  fabric: FabricFactory,
): Promise<LoadedTuning> | undefined {
  const given = tuningGiven(option)
  if (given === null) return undefined
  const loaded = loadTuningOf(given, fabric)
  // The promise is awaited where the world starts.
  loaded.catch(() => {})
  return loaded
}

async function loadTuningOf(
  given: NonNullable<TuningOption>,
  { kind, isJob }: FabricFactory,
): Promise<LoadedTuning> {
  const request = onlineRequestOf(given)
  if (request !== undefined) {
    const { loadOnline, loadOnlineHere } = await import('./processes/load-online.js')
    // The options of rank 0's process count among those of a job.
    const load = isJob === true ? loadOnline : loadOnlineHere
    return { online: await load('run', request, kind) }
  }
  const { loadTuning } = await import('./processes/load-tuning.js')
  return { tuning: await loadTuning('run', given as string | URL | TuningFile, kind) }
}

let warned = false

/**
 * Warns once per process, and in one process only, that a launcher has started copies of the program that do not form
 * one world.
 */
function warnOfCopies(kind: FabricKind): void {
  if (warned) return
  warned = true
  const launcher = mpiLauncher()
  if (launcher === undefined || launcher.processes === 1 || launcher.process > 0) return
  process.emitWarning(
    `${launcher.name} started ${launcher.processes} copies of this program, and each runs its own whole world on ` +
      `fabric '${kind}': for one world on all of them use fabric 'mpi' (--fabric mpi)`,
    { type: 'RankweaveWarning', code: 'RANKWEAVE_COPIES' },
  )
}

// The launchers of this package's fabrics. Each is loaded when it is requested: hosting ranks in this thread takes most
// of the library, WebSockets take packages.
const launchers: Readonly<Partial<Record<FabricKind, Launcher>>> = {
  local: async (factory, request) =>
    (await import('./processes/session-launcher.js')).launchLocal(factory, request),
  threads: launchThreads,
  websocket: async (factory, request) =>
    (await import('./websocket/launcher.js')).launchWebSocket(factory, request),
  mpi: async (factory, request) => (await import('./mpi-run.js')).launchMpi(factory, request),
}

/** Launches on a fabric from outside, whose session opens in this thread. */
const launchSession: Launcher = async (factory, request) =>
  (await import('./processes/session-launcher.js')).launchSession(factory, request)

const runOptions: OptionTable<ModuleRunOptions> = {
  ranks: integerOption({ least: 1, most: maxWorldRanks, required: true, code: 'ERR_WORLD' }),
  ...uncheckedOptions('processes', 'fabric', 'args'),
  signal: signalOption,
  eagerLimitBytes: integerOption({ least: 0 }),
  creditBytes: integerOption({ least: 0 }),
  hosted: hostedOption,
  detectDeadlock: uncheckedOption,
  diagnose: flagOption(),
  report: objectOption(reportOptions),
  tuning: uncheckedOption,
  machine: machineOption,
  matching: objectOption(matchingOptions),
}

/** Returns the options' fabric. @throws ERR_WORLD, ERR_ARGUMENT for invalid options */
function checked<T, A>(main: Main<T, A> | URL, options: ModuleRunOptions<A, T>): FabricFactory {
  if (typeof main !== 'function' && !(main instanceof URL)) {
    const message = `run: expected a function, or the URL of a module, as main, got ${typeof main}`
    throw new RankweaveError('ERR_ARGUMENT', message)
  }
  // Options that are not an object are refused next.
  if (options?.fabric === 'mpi') abortJobOnEarlyExit()
  checkOptions('run', runOptions, options)
  requireHostedForm('run', main, options.hosted)
  if (options.matching !== undefined) checkTraceOptions('run', options.matching, options.ranks)
  if (options.machine !== undefined) checkWorldMachine(options.machine, options.ranks)
  const { fabric = 'local', processes } = options
  if (fabric === 'local') return local(processes === undefined ? {} : { processes })
  if (fabric === 'threads') return threads({ processes: processes ?? threadsOfRanks(options.ranks) })
  if (fabric === 'websocket') return websocket(processes === undefined ? {} : { processes })
  const chosen = fabric === 'mpi' ? mpi() : fabric
  if (typeof chosen !== 'object' || chosen === null || typeof chosen.open !== 'function') {
    const expected = "run: expected 'local', 'threads', 'websocket', 'mpi' or a fabric's factory as fabric"
    throw wrongValue('ERR_ARGUMENT', expected, fabric)
  }
  if (processes !== undefined && processes !== chosen.processes) {
    const expected = `run: expected processes as the fabric has them, ${chosen.processes}`
    throw wrongValue('ERR_WORLD', expected, processes)
  }
  return chosen
}
