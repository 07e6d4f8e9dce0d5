import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, fstatSync, openSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { noneFaster, type PreparedChange, type ProgramRuns, timeIsOver } from '../../advise/advice.js'
import { type ChangeName, changesOf } from '../../advise/changes.js'
import type { Gain } from '../../advise/gain.js'
import {
  hostsOfCommand,
  type PlacementPlan,
  packagePlacesText,
  placedCommand,
  placementOf,
  placesText,
} from '../../advise/placement.js'
import { RankweaveError, shown } from '../../errors.js'
import { compileProfiler, type Profile, readProfile, readSeconds } from '../../profile/profile.js'
import { summaryOf } from '../../profile/summary.js'
import { compileLibrary } from '../../shim/library.js'
import { compilerOfCommand, launcherNameOf, withVariables } from '../../shim/mpi-command.js'
import { packedEnding, packedTuning } from '../../shim/packed-files.js'
import { shellWord } from '../../text/printable.js'
import { readRegularFile, writeWholeFile } from '../../text/whole-file.js'
import { cellAxes, closedGrid } from '../../tuning/models/decision-grid.js'
import { formatTuningFile, readTuningFile } from '../../tuning/models/read-tuning-file.js'
import type { CallFile } from '../../tuning/online/call-file.js'
import { callGains } from '../../tuning/online/call-gains.js'
import { CallHistory, settingsOfRuns } from '../../tuning/online/call-history.js'
import { tunedLogic } from '../../tuning/online/grid-selection.js'
import { defaultAlgorithm } from '../../tuning/settings/setting.js'
import { readCallFolder } from '../input/measured-input.js'
import { Interrupted, Overdue, WorldFailure } from '../output/exit-codes.js'
import { runPreloaded, untilSignal } from './preloaded-run.js'

/** A program to be tried, and the ways to try it. */
export interface Trial {
  /** The words that start the program today. */
  readonly command: readonly string[]
  /** A folder to which all processes can write, for files that are needed meanwhile. */
  readonly folder: string
  /** The compiler of the program's MPI; undefined: that of the launcher. */
  readonly mpicc: string | undefined
  /** The words of a command that compares two files with outputs; null: outputs are not compared. */
  readonly compare: readonly string[] | null
  /** The stream that gets the output of the first run. */
  readonly output: 'inherit' | 'stderr'
  step(line: string): void
  /** Is called after every pair of runs. */
  onPair(name: string, gain: Gain): void
}

/** The names of files that changes need. */
export const fileOfChange = { placement: 'rankweave-ranks.txt', settings: 'rankweave-tuning.json' } as const

const plansName = 'librankweave_shim.so'

/** The runs by which settings are learned at most. */
const mostLearningRuns = 5

/** An MPI program that is run as it is started today, and with changes. */
export class TriedProgram {
  readonly #trial: Trial
  readonly #launcher: ReturnType<typeof launcherNameOf>
  readonly #mpicc: string
  #profile: Profile | undefined
  /** The placement, or why there is none. */
  #placement: PlacementPlan | string = ''
  #settings: LearnedSettings | null = null
  #arePlansCompiled = false
  #runs = 0
  /** The milliseconds of runs that have ended, from the start of the launcher, and their number. */
  #finished = { ms: 0, runs: 0 }
  /** The milliseconds of the longest run without a change. */
  #longestMs = 0
  #ended: Interrupted | null = null

  /** @throws ERR_SHIM for a command of another launcher, or one that compares outputs and does not start */
  constructor(trial: Trial) {
    this.#trial = trial
    this.#launcher = launcherNameOf(trial.command)
    this.#mpicc = trial.mpicc ?? compilerOfCommand(trial.command)
    if (trial.compare !== null) requireEqual(trial.compare, '/dev/null', '/dev/null')
  }

  /** The number of runs. */
  get count(): number {
    return this.#runs
  }

  get profile(): Profile {
    return this.#profile!
  }

  get changes() {
    return changesOf(summaryOf(this.profile), this.#placement)
  }

  /** The signal that ended the runs early. */
  get ended(): Interrupted | null {
    return this.#ended
  }

  /** Runs the program once with a profile, and finds what could be changed. @throws as `runPreloaded` */
  async measure(): Promise<void> {
    const { command, folder } = this.#trial
    const mpicc = this.#mpicc
    const file = join(folder, 'profile.jsonl')
    await this.#run(command, {
      ...{ libraries: [this.#profiler], variables: { RANKWEAVE_PROFILE: `profile:${file}` } },
      prepare: () => {
        this.#trial.step(`compiling with ${mpicc}`)
        compileProfiler(folder, mpicc)
      },
    })
    if (!existsSync(file))
      throw new RankweaveError(
        'ERR_SHIM',
        'expected a program that calls MPI_Init and MPI_Finalize and is linked with libmpi dynamically, got no profile',
      )
    this.#profile = readProfile(contentsOf(file), file)
    this.#placement = placementOf(this.#profile, this.#launcher, command)
  }

  /**
   * Returns runs of the program that are expected to end before a time, by those that have ended. A run in progress
   * may exceed it, but none begins later.
   *
   * @param endsMs the time by `performance.now()`
   */
  runs(mostPairs: number, endsMs: number): ProgramRuns {
    const now = () => performance.now()
    const lastOf = (othersToFollow: number) => now() + Math.max(0, endsMs - now()) / (othersToFollow + 1)
    return {
      run: (changes) => this.#timed(changes),
      prepare: async (name, othersToFollow) => {
        const runs = name === 'collective settings' ? 3 : 2
        const hasTime = () => now() + runs * this.#runMs() <= endsMs
        if (!hasTime()) return timeIsOver
        if (name !== 'placement') await this.#compilePlans()
        // The compiler may have taken the rest of the time on a busy machine.
        if (!hasTime()) return timeIsOver
        return await this.#prepare(name, lastOf(othersToFollow))
      },
      boundsOf: (name, othersToFollow, pairsBefore) => {
        const [before, lastMs] = [this.#finished, lastOf(othersToFollow)]
        let pairs = pairsBefore
        return {
          mostPairs,
          // The first pair may take the time of changes that follow: many changes without a pair say nothing.
          hasTime: () => now() + 2 * this.#runMs(before) <= (pairs === 0 ? endsMs : lastMs),
          isOver: () => now() > endsMs,
          onPair: (gain) => {
            pairs++
            this.#trial.onPair(name, gain)
          },
        }
      },
      isEarlyEnd: (error) => {
        if (error instanceof Interrupted) this.#ended = error
        return error instanceof Interrupted
      },
      failureOf: (error, changes) => {
        if (error instanceof Overdue) return 'a run did not end'
        // The launcher may know the nodes by other names, or refuse places that a scheduler gave otherwise.
        const isRefusal = error instanceof WorldFailure && changes.includes('placement')
        return isRefusal ? `a run failed: ${error.message}` : null
      },
    }
  }

  /** Writes the files that changes need into a folder. */
  async writeFiles(changes: readonly ChangeName[], folder: string): Promise<void> {
    if (changes.includes('placement') && typeof this.#placement !== 'string') {
      const text = this.#placesText(this.#placement)
      await writeWholeFile(join(folder, fileOfChange.placement), [text])
    }
    if (changes.includes('collective settings') && this.#settings !== null) {
      const file = join(folder, fileOfChange.settings)
      await writeWholeFile(file, [this.#settings.text])
      await writeWholeFile(`${file}${packedEnding}`, this.#settings.packed)
    }
  }

  #placesText(plan: PlacementPlan): string {
    const { nodes, processes } = this.profile
    const launcher = this.#launcher
    const today = processes.map(({ node }) => node)
    const named = launcher === 'Slurm' ? null : hostsOfCommand(this.#trial.command, contentsOf, today)
    const hosts = named !== null && named.length >= nodes.length ? named : nodes
    return plan.packages === undefined
      ? placesText({ launcher, nodeOf: plan.nodeOf, hosts, cores: availableParallelism() })
      : packagePlacesText(plan, hosts[0], processes)
  }

  /** Returns the lines to type for changes whose files are in a folder. */
  lines(changes: readonly ChangeName[], folder: string): readonly string[] {
    const isPreloaded = changes.some((name) => name !== 'placement')
    const command = this.#command(changes, folder)
    const library = join(resolve(folder, 'rankweave-shim'), plansName)
    const variables = { LD_PRELOAD: library, ...this.#shimWords(changes, resolve(folder)) }
    const words = isPreloaded ? withVariables(command, variables) : command
    const compile = ['rankweave', 'shim', '-o', join(folder, 'rankweave-shim'), '--mpicc', this.#mpicc]
    return [...(isPreloaded ? [compile] : []), words].map((line) => line.map(shellWord).join(' '))
  }

  async #prepare(name: ChangeName, lastMs: number): Promise<PreparedChange> {
    if (name === 'collective settings') {
      const before = this.#runs
      this.#settings = await this.#learn(lastMs)
      const runs = this.#runs - before
      if (this.#settings === null) return noneFaster(runs, runs < mostLearningRuns)
    }
    await this.writeFiles([name], this.#trial.folder)
    return this.#settings !== null && name === 'collective settings' ? { what: this.#settings.what } : {}
  }

  async #compilePlans(): Promise<void> {
    if (this.#arePlansCompiled) return
    this.#arePlansCompiled = true
    const { command, folder } = this.#trial
    await untilSignal(
      command[0],
      () => 'so no plans are tried',
      async () => {
        this.#trial.step(`compiling the library of plans with ${this.#mpicc}`)
        compileLibrary(folder, this.#mpicc)
      },
    )
  }

  /** Returns the mean time of a run in milliseconds, of those after `before` if there are any. */
  #runMs(before = { ms: 0, runs: 0 }): number {
    const { ms, runs } = this.#finished
    return runs > before.runs ? (ms - before.ms) / (runs - before.runs) : ms / runs
  }

  /** Learns settings in a run that tries them, and in further ones that end in a third of the time until `lastMs`. */
  async #learn(lastMs: number): Promise<LearnedSettings | null> {
    const { command, folder } = this.#trial
    const calls = join(folder, 'calls')
    const begunMs = performance.now()
    const enoughMs = begunMs + (lastMs - begunMs) / 3
    let runs = 0
    do {
      this.#trial.step(`trying algorithms of collectives, run ${runs + 1}`)
      const variables = { RANKWEAVE_SHIM: `online:${calls}` }
      const libraries = [join(folder, plansName)]
      await this.#run(command, { libraries, variables, limitMs: limitOf(this.#longestMs) })
      runs++
    } while (runs < mostLearningRuns && performance.now() + this.#runMs() <= enoughMs)
    return learnedSettings([...readCallFolder(calls).runs.values()])
  }

  async #timed(changes: readonly ChangeName[]): Promise<number> {
    const { folder } = this.#trial
    const file = join(folder, 'time.json')
    const isPreloaded = changes.some((name) => name !== 'placement')
    await this.#run(this.#command(changes, folder), {
      libraries: [this.#profiler, ...(isPreloaded ? [join(folder, plansName)] : [])],
      variables: { RANKWEAVE_PROFILE: `time:${file}`, ...this.#shimWords(changes, folder) },
      ...(changes.length === 0 ? {} : { limitMs: limitOf(this.#longestMs) }),
    })
    return readSeconds(contentsOf(file), file)
  }

  /** Runs the program; only the output of the first run is shown, unless outputs are compared. */
  async #run(
    command: readonly string[],
    how: Pick<Parameters<typeof runPreloaded>[1], 'libraries' | 'limitMs' | 'prepare' | 'variables'>,
  ): Promise<void> {
    const { compare, folder, output } = this.#trial
    const isFirst = this.#runs++ === 0
    let begunMs = performance.now()
    const prepare = () => {
      how.prepare?.()
      begunMs = performance.now()
    }
    const ifItFails = () => (isFirst ? 'so it has no profile' : 'although its first run ended well')
    const [first, other] = ['first.out', 'other.out'].map((name) => join(folder, name))
    const input = inputFromItsStart()
    const file = compare === null ? null : openSync(isFirst ? first : other, 'w')
    try {
      const into = file ?? (isFirst ? output : 'ignore')
      await runPreloaded(command, {
        ...how,
        ...(input === null ? {} : { input }),
        ...{ prepare, output: into, ifItFails },
      })
      const { ms, runs } = this.#finished
      const ownMs = performance.now() - begunMs
      this.#finished = { ms: ms + ownMs, runs: runs + 1 }
      if (how.limitMs === undefined) this.#longestMs = Math.max(this.#longestMs, ownMs)
    } finally {
      for (const opened of [input, file]) if (opened !== null) closeSync(opened)
    }
    if (compare !== null && !isFirst) requireEqual(compare, first, other)
  }

  #command(changes: readonly ChangeName[], folder: string): readonly string[] {
    const { command } = this.#trial
    if (!changes.includes('placement')) return command
    const file = join(folder, fileOfChange.placement)
    return placedCommand(command, { launcher: this.#launcher, file, ranks: this.profile.ranks })
  }

  /** Returns the variable that tells the library of plans its task; it needs none for neighborhood plans alone. */
  #shimWords(changes: readonly ChangeName[], folder: string): { RANKWEAVE_SHIM?: string } {
    const words = [
      ...(changes.includes('reordered ranks') ? ['reorder'] : []),
      ...(changes.includes('collective settings') ? [`tune:${join(folder, fileOfChange.settings)}`] : []),
    ]
    // srun ends the value of a variable at a comma.
    return words.length === 0 ? {} : { RANKWEAVE_SHIM: words.join(this.#launcher === 'Slurm' ? ';' : ',') }
  }

  get #profiler(): string {
    return join(this.#trial.folder, 'librankweave_profile.so')
  }
}

/** Returns the milliseconds after which a run with a change is ended, by the longest run without one. */
function limitOf(longestMs: number): number {
  return Math.max(5 * longestMs, longestMs + 60_000)
}

/**
 * Opens the file that is standard input once more, so that each run reads it from its start. Returns null for a terminal
 * or a pipe, which only the first run can read.
 */
function inputFromItsStart(): number | null {
  try {
    return fstatSync(0).isFile() ? openSync('/dev/stdin', 'r') : null
  } catch {
    return null
  }
}

/** @throws ERR_SHIM unless the command that compares outputs ends with exit code 0 */
function requireEqual([name, ...words]: readonly string[], first: string, other: string): void {
  const { error, status, stdout, stderr } = spawnSync(name, [...words, first, other], { encoding: 'utf8' })
  if (error === undefined && status === 0) return
  const said = error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(0, 4).join('; ')
  const hint = error === undefined ? '' : "; quote a command of several words: --compare 'diff -q'"
  throw new RankweaveError(
    'ERR_SHIM',
    `--compare: expected equal results of two runs, got from ${name}: ${said}${differenceOf(first, other)}${hint}`,
  )
}

/** Returns the first line in which two files differ, in words; empty if there is none. */
function differenceOf(first: string, other: string): string {
  // The command is tried on no output first.
  if (first === other) return ''
  const [lines, others] = [first, other].map((file) => contentsOf(file).split('\n'))
  const at = lines.findIndex((line, i) => line !== others[i])
  if (at < 0) return ''
  const shownLine = (line: string | undefined) => (line === undefined ? 'nothing' : shown(line))
  return `; line ${at + 1} was ${shownLine(lines[at])}, then ${shownLine(others[at])}`
}

const longestFile = 2 ** 28

function contentsOf(file: string): string {
  return readRegularFile(file, longestFile).toString()
}

/** Settings of collectives that were faster than MPI's own choice in runs of a program. */
interface LearnedSettings {
  /** A tuning file, and the form of it that the preloaded library reads. */
  readonly text: string
  readonly packed: Uint8Array
  /** Says what they change, as a sentence without its period. */
  readonly what: string
}

/**
 * Learns settings from runs of one program in which every call drew a setting. Returns null if none was called often
 * enough and is faster than the default.
 *
 * @throws ERR_MEASUREMENT for runs of different programs or libraries
 */
function learnedSettings(files: readonly CallFile[]): LearnedSettings | null {
  const history = new CallHistory(settingsOfRuns(files))
  for (const file of files) history.add(file)
  const communicators = files.flatMap((file) => file.communicators)
  const most = (of: 'nodes' | 'processesPerNode') =>
    communicators.reduce((largest, communicator) => Math.max(largest, communicator[of]), 1)
  const axes = cellAxes({ nodes: most('nodes'), processesPerNode: most('processesPerNode') })
  const grids = history.learn(axes, { hasPerformances: false })
  const changed = [...grids].flatMap(([collective, learned]) =>
    callGains(collective, learned, history.of(collective), tunedLogic)
      .filter(({ best, ratio }) => best !== 0 && ratio < 1)
      .map(({ best, call }) => ({ call, algorithm: learned.grid.settings[best - 1].algorithm }))
      .filter(({ algorithm }) => algorithm !== defaultAlgorithm),
  )
  if (changed.length === 0) return null
  const decisions = Object.fromEntries([...grids].map(([name, { grid }]) => [name, closedGrid(grid)]))
  const text = formatTuningFile(files[0].source, decisions)
  const named = changed
    .slice(0, 3)
    .map(({ algorithm, call }) => `${call.collective} of ${call.bytes} B by ${algorithm}`)
  const others = changed.length > 3 ? ` and ${changed.length - 3} more` : ''
  return { text, packed: packedTuning(readTuningFile(text)), what: `${named.join(', ')}${others}` }
}
