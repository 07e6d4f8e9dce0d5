import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { type Advice, advised, gainText, untriedText } from '../../advise/advice.js'
import { adviceDocument } from '../../advise/advice-document.js'
import { callsNoNeighborhood } from '../../advise/changes.js'
import { htmlOf } from '../../document/html.js'
import { summaryOf } from '../../profile/summary.js'
import { percentText, shellWord } from '../../text/printable.js'
import { addOptions, json, number, option, readOptions, whole } from '../input/options.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted, secondsText, table } from '../output/result-rows.js'
import { temporaryRecordFolder } from '../program/preloaded-run.js'
import { fileOfChange, TriedProgram } from '../program/tried-program.js'

const help = `
COMMAND starts an MPI program with mpirun or mpiexec of Open MPI or MPICH, or with srun. It is run once with a profile, then
again and again in pairs: as it stands, and with one change that the profile makes possible. Nothing is changed in the
program. The last line says what to type, or that nothing helps.

Changes that are tried:
  placement            ranks that exchange much are put on one node; needs several nodes
  neighborhood plans   the library of rankweave shim is preloaded; needs neighborhood collectives, or MPI_Alltoallv or
                       MPI_Alltoallw whose counts are mostly zero
  collective settings  collectives run by the algorithms of MPI that were fastest in up to five runs that tried them

A pair ends in a ratio of times from the end of MPI_Init to the start of MPI_Finalize. After 11, 16, 23, 33 and 41 pairs the
95% interval of the median ratio is looked at; runs end when it is narrower than 4%, or wholly above or below 1.03. A run
begins only if it should end in time by those before; one in progress may exceed the time. A run with a change is ended
after five times the longest run without one, at least 60 s more. Ctrl-C tells what is known so far. Its standard
output is shown once. With --compare it is kept instead, and the output of each later run compared with it by COMMAND FIRST
OTHER, such as diff -q.

Exit codes: 0 with any verdict, 2 for bad input and other results, 3 for a program that fails, 130 after Ctrl-C.

Examples:
  rankweave advise -- mpirun -n 16 ./program
  rankweave advise -o advice.html -- srun --mpi=pmix -n 16 ./program
  rankweave advise --minutes 30 --compare 'diff -q' -- mpirun --hostfile hosts -n 64 ./program input`

const optionTable = {
  minutes: option('--minutes <number>', 'the time for all runs, 0.1 to 1440', number(0.1, 1440), '10'),
  pairs: option('--pairs <number>', 'pairs of runs of a change at most', whole(1, 1000), '41'),
  compare: option(
    '--compare <command>',
    'fails where a run has other results: COMMAND FIRST OTHER',
    z.string().min(1),
  ),
  folder: option(
    '--folder <folder>',
    'where files that a change needs are written, if it pays',
    z.string().min(1),
    '.',
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
        const options = readOptions(optionTable, raw)
        const { minutes, pairs, compare, output, mpicc } = options
        const endsMs = performance.now() + minutes * 60_000
        const files = Object.values(fileOfChange).map((name) => join(options.folder, name))
        await checkOutputs(report, output, ...files)
        const folder = temporaryRecordFolder(resolve('.'))
        try {
          const program = new TriedProgram({
            ...{ command, folder, mpicc, compare: compare?.split(/\s+/) ?? null },
            output: report.json ? 'stderr' : 'inherit',
            step: report.step,
            onPair: (name, gain) => report.progress(() => `${name}: ${gainText(gain)}`),
          })
          await program.measure()
          const advice = await advised(program.changes, program.runs(pairs, endsMs))
          await conclude(report, command, program, { advice, compare, output, folder: options.folder })
          if (program.ended !== null) throw program.ended
        } finally {
          rmSync(folder, { recursive: true, force: true })
        }
      }),
    )
}

/** Returns a row of the changes that gained alone, if there are several. */
function togetherRow({ notTogether, together }: Advice): readonly (readonly [string, string])[] {
  if (together !== null) return [['together', gainText(together)]]
  return notTogether === null ? [] : [['together', notTogether]]
}

/** Says that ranks share cores, where all are on one node: this one. */
function oversubscribedRow(ranks: number, nodes: number): readonly (readonly [string, string])[] {
  const cores = availableParallelism()
  if (nodes > 1 || ranks <= cores) return []
  const text = `${counted(ranks, 'rank shares', 'ranks share')} ${counted(cores, 'core', 'cores')}: what follows holds for such runs only`
  return [['cores', text]]
}

/** Returns the command with which a program without neighborhood collectives goes on. */
function nextRow(
  { advised, untried }: Advice,
  command: readonly string[],
): readonly (readonly [string, string])[] {
  if (advised.length > 0 || !untried.some(({ reason }) => reason === callsNoNeighborhood)) return []
  const line = ['rankweave', 'record', '-o', 'graph.txt', '--', ...command].map(shellWord).join(' ')
  return [['next', `${line}, then the study that it names: what a neighborhood collective would bring`]]
}

function comparedText(runs: number, compare: string): string {
  return runs < 2 ? 'not compared: the program ran once' : `equal in ${runs} runs by ${compare}`
}

/** Runs of fewer seconds vary much by how processes are scheduled. */
const shortRun = 1

interface Conclusion {
  readonly advice: Advice
  /** The command that compared outputs. */
  readonly compare: string | undefined
  /** The page. */
  readonly output: string | undefined
  /** The folder for files that the changes need. */
  readonly folder: string
}

async function conclude(
  report: Reporter,
  command: readonly string[],
  program: TriedProgram,
  { advice, compare, output, folder }: Conclusion,
): Promise<void> {
  const { profile } = program
  await program.writeFiles(advice.advised, folder)
  const use =
    advice.advised.length === 0
      ? []
      : program.lines(advice.advised, folder).map((line) => report.ownWords(line))
  const summary = summaryOf(profile)
  const { inMpi, ranks, seconds } = summary
  const { mpi, nodes } = profile
  const verdict =
    seconds < shortRun && advice.advised.length === 0
      ? `A run of ${secondsText(seconds)} is too short for a verdict: give it ${shortRun} s or more.`
      : advice.verdict
  if (output !== undefined) {
    const line = command.map(shellWord).join(' ')
    const page = adviceDocument({ ...advice, verdict }, { command: line, profile: summary, use })
    await writeOutput(report, output, htmlOf(page))
    if (!isStandardOutput(output)) report.note(`wrote ${output}`)
  }
  const object = {
    ...{ command, profile: summary },
    ...{ tried: advice.tried, untried: advice.untried, together: advice.together },
    ...{ advised: advice.advised, verdict, use },
  }
  const rows: (readonly [string, string])[] = [
    ['program', `${counted(ranks, 'rank', 'ranks')} on ${counted(nodes.length, 'node', 'nodes')}, ${mpi}`],
    ['time', `${secondsText(seconds)} in the profiled run, ${percentText(inMpi)} of it in MPI`],
    ...oversubscribedRow(ranks, nodes.length),
    ...advice.tried.map(({ name, share, what, gain }): readonly [string, string] => [
      name,
      `${gainText(gain)}; ${what}; it can touch at most ${percentText(share)} of a rank's time`,
    ]),
    ...advice.untried.map(({ name, ...change }): readonly [string, string] => [name, untriedText(change)]),
    ...(compare === undefined ? [] : [['results', comparedText(program.count, compare)] as const]),
    ...togetherRow(advice),
    ...nextRow(advice, command),
  ]
  const last = use.length === 0 ? verdict : `${verdict} Use: ${use.join(' && ')}`
  reportBeside(report, output, { ...object, file: output ?? null }, `${table(rows)}\n${last}`)
}
