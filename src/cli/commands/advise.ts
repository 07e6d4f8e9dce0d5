import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { type Advice, advised, gainText, type ProgramRuns } from '../../advise/advice.js'
import { adviceDocument } from '../../advise/advice-document.js'
import { type ChangeName, changesOf, percent } from '../../advise/changes.js'
import {
  hostsOfCommand,
  type PlacementPlan,
  type PlacingLauncher,
  placedCommand,
  placesText,
  plannedPlacement,
} from '../../advise/placement.js'
import { htmlOf } from '../../document/html.js'
import { RankweaveError } from '../../errors.js'
import { compileProfiler } from '../../profile/library.js'
import { type Profile, readProfile, readSeconds, trafficOf } from '../../profile/profile.js'
import { summaryOf } from '../../profile/summary.js'
import { compileLibrary } from '../../shim/library.js'
import { compilerOfCommand, launcherNameOf, withVariables } from '../../shim/mpi-command.js'
import { shellWord } from '../../text/printable.js'
import { readRegularFile, writeWholeFile } from '../../text/whole-file.js'
import { addOptions, json, option, readOptions, whole } from '../input/options.js'
import { counted, secondsText } from '../output/figure-text.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import type { Reporter } from '../output/reporter.js'
import { table } from '../output/result-rows.js'
import { runPreloaded, temporaryRecordFolder } from '../program/preloaded-run.js'
import { Interrupted } from '../program/world-failure.js'
import type { AddCommand } from './command.js'

const help = `
COMMAND starts an MPI program with mpirun or mpiexec of Open MPI or MPICH, or with srun. It is run once with a profile, then
again and again in pairs: as it stands, and with one change that the profile makes possible. Nothing is changed in the
program. The last line says what to type, or that nothing helps.

Changes that are tried:
  placement            ranks that exchange much are put on one node; needs several nodes
  neighborhood plans   the library of rankweave shim is preloaded; needs neighborhood collectives

A pair ends in a ratio of times from the end of MPI_Init to the begin of MPI_Finalize. Pairs are run until the 95% interval
of the median ratio is narrower than 4%, until it excludes a gain of 3% or less (or more) after 11 pairs, or until the time is
over. Ctrl-C tells what is known so far. The program's output is shown once; with --compare the outputs of all runs are
compared with the first: FIRST and OTHER are files, for instance --compare 'diff -q'.

Examples:
  rankweave advise -- mpirun -n 16 ./program
  rankweave advise -o advice.html -- srun --mpi=pmix -n 16 ./program
  rankweave advise --minutes 30 --compare 'diff -q' -- mpirun --hostfile hosts -n 64 ./program input`

const optionTable = {
  minutes: option(
    '--minutes <number>',
    'the time for all runs, 1 to 1440',
    z.coerce.number().min(0.1).max(1440),
    '10',
  ),
  pairs: option('--pairs <number>', 'pairs of runs of a change at most', whole(1, 1000), '41'),
  compare: option(
    '--compare <command>',
    'fails where a run has other results: COMMAND FIRST OTHER',
    z.string().min(1),
  ),
  places: option(
    '--places <file>',
    'where a placement that pays is written',
    z.string().min(1),
    'rankweave-ranks.txt',
  ),
  output: option('-o, --output <file>', 'also write a page with the profile (HTML)', z.string().min(1)),
  mpicc: option(
    '--mpicc <command>',
    "the compiler of the program's MPI (default: that of the launcher)",
    z.string().min(1),
  ),
  json,
}

export const adviseCommand: AddCommand = (command, act) => {
  addOptions(command.argument('<command...>', 'what starts the program, after --'), optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, command: readonly string[], raw: unknown) => {
        const {
          minutes,
          pairs,
          compare,
          output,
          places,
          mpicc = compilerOfCommand(command),
        } = readOptions(optionTable, raw)
        await checkOutputs(report, output, places)
        const folder = temporaryRecordFolder(resolve('.'))
        try {
          const program = new TriedProgram(report, {
            command,
            folder,
            mpicc,
            compare: compare?.split(/\s+/) ?? null,
          })
          await program.measure()
          const endsMs = performance.now() + minutes * 60_000
          const advice = await advised(program.changes, program.runs(pairs, endsMs))
          await conclude(report, program, advice, { output, places })
          if (program.ended !== null) throw program.ended
        } finally {
          rmSync(folder, { recursive: true, force: true })
        }
      }),
    )
}

interface ProgramWords {
  readonly command: readonly string[]
  /** A folder to which all processes can write. */
  readonly folder: string
  readonly mpicc: string
  /** The words of a command that compares two files with outputs. */
  readonly compare: readonly string[] | null
}

/** A program that is run as it stands and with changes. */
class TriedProgram {
  readonly launcher: ReturnType<typeof launcherNameOf>
  readonly words: ProgramWords
  #profile: Profile | undefined
  #placement: PlacementPlan | null = null
  #runs = 0
  #ended: Interrupted | null = null
  readonly #report: Reporter

  constructor(report: Reporter, words: ProgramWords) {
    this.#report = report
    this.words = words
    this.launcher = launcherNameOf(words.command)
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

  /** Runs the program once with a profile, and finds what could be changed. */
  async measure(): Promise<void> {
    const { command, folder, mpicc } = this.words
    const file = join(folder, 'profile.jsonl')
    await this.#run(command, {
      ...{ libraries: [this.#profiler], variables: { RANKWEAVE_PROFILE: `profile:${file}` } },
      prepare: () => {
        this.#report.step(`compiling with ${mpicc}`)
        compileProfiler(folder, mpicc)
      },
    })
    this.#profile = readProfile(contentsOf(file), file)
    const nodeOf = this.#profile.processes.map(({ node }) => node)
    const isPlaceable = this.launcher !== 'Slurm' && !command.includes(':')
    if (isPlaceable) this.#placement = plannedPlacement(trafficOf(this.#profile), nodeOf)
    if (this.changes.possible.some(({ name }) => name === 'neighborhood plans')) {
      this.#report.step(`compiling the library of plans with ${mpicc}`)
      compileLibrary(folder, mpicc)
    }
    if (this.#placement !== null) await this.writePlaces(this.#places)
  }

  runs(mostPairs: number, endsMs: number): ProgramRuns {
    return {
      run: (changes) => this.#timed(changes),
      boundsOf: (name, othersToFollow) => {
        const begunMs = performance.now()
        const lastMs = begunMs + Math.max(0, endsMs - begunMs) / (othersToFollow + 1)
        let [pairs, pairMs] = [0, 0]
        return {
          mostPairs,
          hasTime: () => performance.now() + pairMs <= lastMs,
          onPair: (gain) => {
            pairMs = (performance.now() - begunMs) / ++pairs
            this.#report.progress(() => `${name}: ${gainText(gain)}`)
          },
        }
      },
      isEarlyEnd: (error) => {
        if (error instanceof Interrupted) this.#ended = error
        return error instanceof Interrupted
      },
    }
  }

  /** Returns what to type. */
  lines(changes: readonly ChangeName[], places: string): readonly string[] {
    const isPlanned = changes.includes('neighborhood plans')
    const library = join(resolve('rankweave-shim'), 'librankweave_shim.so')
    const command = this.#command(changes, places)
    const words = isPlanned ? withVariables(command, { LD_PRELOAD: library }) : command
    return [
      ...(isPlanned ? [`rankweave shim -o rankweave-shim --mpicc ${shellWord(this.words.mpicc)}`] : []),
      words.map(shellWord).join(' '),
    ]
  }

  async writePlaces(file: string): Promise<void> {
    const hosts = hostsOfCommand(this.words.command, contentsOf)
    const { nodes } = this.profile
    const text = placesText({
      launcher: this.launcher as PlacingLauncher,
      nodeOf: this.#placement!.nodeOf,
      hosts: hosts !== null && hosts.length >= nodes.length ? hosts : nodes,
      cores: availableParallelism(),
    })
    await writeWholeFile(file, [text])
  }

  async #timed(changes: readonly ChangeName[]): Promise<number> {
    const { folder } = this.words
    const file = join(folder, 'time.json')
    const isPlanned = changes.includes('neighborhood plans')
    await this.#run(this.#command(changes, this.#places), {
      libraries: [this.#profiler, ...(isPlanned ? [join(folder, 'librankweave_shim.so')] : [])],
      variables: { RANKWEAVE_PROFILE: `time:${file}` },
    })
    return readSeconds(contentsOf(file), file)
  }

  /** Runs the program; only the output of the first run is shown, unless outputs are compared. */
  async #run(
    command: readonly string[],
    how: Pick<Parameters<typeof runPreloaded>[1], 'libraries' | 'prepare' | 'variables'>,
  ): Promise<void> {
    const { compare, folder } = this.words
    const isFirst = this.#runs++ === 0
    const ifItFails = () => (isFirst ? 'so it has no profile' : 'which it did not in the first run')
    if (compare === null) {
      const shown = this.#report.json ? ('stderr' as const) : ('inherit' as const)
      return await runPreloaded(command, { ...how, output: isFirst ? shown : 'ignore', ifItFails })
    }
    const [first, other] = ['first.out', 'other.out'].map((name) => join(folder, name))
    const file = openSync(isFirst ? first : other, 'w')
    try {
      await runPreloaded(command, { ...how, output: file, ifItFails })
    } finally {
      closeSync(file)
    }
    if (!isFirst) requireEqual(compare, first, other)
  }

  #command(changes: readonly ChangeName[], places: string): readonly string[] {
    const { command } = this.words
    return changes.includes('placement')
      ? placedCommand(command, this.launcher as PlacingLauncher, places)
      : command
  }

  get #profiler(): string {
    return join(this.words.folder, 'librankweave_profile.so')
  }

  get #places(): string {
    return join(this.words.folder, 'places.txt')
  }
}

/** @throws ERR_SHIM unless the command that compares outputs ends with exit code 0 */
function requireEqual([name, ...words]: readonly string[], first: string, other: string): void {
  const { error, status, stdout, stderr } = spawnSync(name, [...words, first, other], { encoding: 'utf8' })
  if (error === undefined && status === 0) return
  const said = error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(0, 4).join('; ')
  throw new RankweaveError('ERR_SHIM', `--compare: a run printed other results than the first: ${said}`)
}

const longestFile = 2 ** 28

function contentsOf(file: string): string {
  return readRegularFile(file, longestFile).toString()
}

async function conclude(
  report: Reporter,
  program: TriedProgram,
  advice: Advice,
  { output, places }: { readonly output: string | undefined; readonly places: string },
): Promise<void> {
  const { profile } = program
  if (advice.advised.includes('placement')) await program.writePlaces(places)
  const use = advice.advised.length === 0 ? [] : program.lines(advice.advised, places)
  const summary = summaryOf(profile)
  const { inMpi, ranks, seconds } = summary
  const { mpi, nodes } = profile
  if (output !== undefined) {
    const command = program.words.command.map(shellWord).join(' ')
    await writeOutput(report, output, htmlOf(adviceDocument(advice, { command, profile: summary, use })))
    if (!isStandardOutput(output)) report.note(`wrote ${output}`)
  }
  const object = {
    ...{ command: program.words.command, profile: summary },
    ...{ tried: advice.tried, untried: advice.untried, together: advice.together },
    ...{ advised: advice.advised, verdict: advice.verdict, use },
  }
  const rows: (readonly [string, string])[] = [
    ['program', `${counted(ranks, 'rank', 'ranks')} on ${counted(nodes.length, 'node', 'nodes')}, ${mpi}`],
    ['time', `${secondsText(seconds)} in the profiled run, ${percent(inMpi)} of it in MPI`],
    ...advice.tried.map(({ name, share, what, gain }): readonly [string, string] => [
      name,
      `${gainText(gain)}; ${what}; ${percent(share)} of the time is in calls that it changes`,
    ]),
    ...advice.untried.map(({ name, reason }): readonly [string, string] => [name, `not tried: ${reason}`]),
    ...(advice.together === null ? [] : [['together', gainText(advice.together)] as const]),
  ]
  const last = use.length === 0 ? advice.verdict : `${advice.verdict} Use: ${use.join(' && ')}`
  reportBeside(report, output, { ...object, file: output ?? null }, `${table(rows)}\n${last}`)
}
