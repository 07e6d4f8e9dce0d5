import { rmSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { type Advice, advised, gainText, untriedText } from '../../advise/advice.js'
import { adviceDocument } from '../../advise/advice-document.js'
import { callsNoNeighborhood, leastShare, touchedText } from '../../advise/changes.js'
import { htmlOf } from '../../document/html.js'
import { type ProfileSummary, summaryOf } from '../../profile/summary.js'
import { percentText, shellWord } from '../../text/printable.js'
import { addOptions, json, number, option, readOptions, whole } from '../input/options.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import { inMpiText, longestCallsRow } from '../output/recorded-graphs-report.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import {
  counted,
  figure,
  held,
  objectOf,
  type ResultRow,
  row,
  secondsText,
  shown,
  textOf,
} from '../output/result-rows.js'
import { temporaryRecordFolder } from '../program/preloaded-run.js'
import { fileOfChange, TriedProgram } from '../program/tried-program.js'

const help = `
COMMAND starts an MPI program with mpirun or mpiexec of Open MPI or MPICH, or with srun. It is run once with a profile, then
again and again in pairs: as it stands, and with one change that the profile makes possible. Nothing is changed in the
program. The last line says what to type, or that nothing helps.

Changes that are tried:
  placement            ranks that exchange much are put on one node, or of one node in one package of its cores; needs several
                       nodes, or Open MPI and ranks that are bound to packages
  reordered ranks      grids and graphs made with reorder = 1 get a better order of ranks; needs several nodes
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

/** A day. */
const mostMinutes = 1440

const optionTable = {
  minutes: option(
    '--minutes <number>',
    `the time for all runs, 0.1 to ${mostMinutes}`,
    number(0.1, mostMinutes),
    '10',
  ),
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
        const [loadBefore] = loadavg()
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
          await conclude(report, command, program, {
            ...{ advice, compare, loadBefore, minutes, output },
            folder: options.folder,
          })
          if (program.ended !== null) throw program.ended
        } finally {
          rmSync(folder, { recursive: true, force: true })
        }
      }),
    )
}

/** Returns the row of the changes that gained alone, if there are several. */
function togetherRow({ notTogether, together }: Advice): ResultRow {
  return row('together', together, 'together', together === null ? notTogether : gainText(together))
}

/** Says that ranks share cores, where all are on one node: this one. */
function coresRow(ranks: number, nodes: number): ResultRow {
  const cores = availableParallelism()
  if (nodes > 1 || ranks <= cores) return row('cores', null, 'cores', null)
  const text = `${counted(ranks, 'rank shares', 'ranks share')} ${counted(cores, 'core', 'cores')}: what follows holds for such runs only`
  return row('cores', cores, 'cores', text)
}

/** Says how much runs of the unchanged command differed, which is what a small gain must exceed. */
function noiseRow(unchanged: Advice['unchanged'], loadBefore: number): ResultRow {
  const { runs = 0, leastSeconds = 0, mostSeconds = 0 } = unchanged ?? {}
  const cores = availableParallelism()
  const others =
    loadBefore < cores / 2
      ? ''
      : `; before, the load of ${counted(cores, 'core', 'cores')} was ${loadBefore.toFixed(1)}`
  const text =
    runs < 2
      ? `not known: the unchanged command ran ${runs === 0 ? 'only' : 'once, and once'} with the profile`
      : `${runs} runs of the unchanged command took ${secondsText(leastSeconds)} to ${secondsText(mostSeconds)}`
  return row('unchanged', unchanged, 'noise', text + others)
}

/** Says in a sentence what is left to do after the verdict. */
function nextText(
  { advised, tried, untried }: Advice,
  { minutes, isShort, nodes, loadBefore }: NextFacts,
): string {
  const elsewhere = nodes > 1 ? '' : '; placement may help more on several nodes: run advise there, too'
  if (advised.length > 0) return `start the program by the last line${elsewhere}`
  if (isShort) return 'give the program more to do, and advise again'
  const isOpen = tried.some(({ finding }) => finding === 'open') || untried.some(({ needsTime }) => needsTime)
  if (isOpen && nodes === 1 && loadBefore > availableParallelism())
    return 'advise again when other programs leave the machine alone'
  if (isOpen)
    return `advise again with --minutes ${Math.min(mostMinutes, Math.ceil(3 * minutes))}, or leave the command as it is`
  return `nothing: start the program as today${elsewhere}`
}

/** The preloaded library sends longer blocks directly to other nodes, as `docs/preloaded-library.md` says. */
const mostCombinedBytes = 1024

/** Says what a program that waits for messages could call instead. */
function rewritingRow(
  { untried }: Advice,
  { kinds, traffic }: ProfileSummary,
  { command, nodes }: { readonly command: readonly string[]; readonly nodes: number },
): ResultRow {
  const share = kinds.moving + kinds.waiting
  const isPossible = untried.some(({ reason }) => reason === callsNoNeighborhood)
  if (!isPossible || share < leastShare) return row('rewriting', null, 'rewriting', null)
  const take = `messages take ${percentText(share)} of the time of all ranks`
  const meanBytes =
    (traffic.within.bytes + traffic.between.bytes) / (traffic.within.messages + traffic.between.messages)
  if (nodes > 1 && meanBytes > mostCombinedBytes)
    return row(
      'rewriting',
      `${take}: too long (mean ${figure(Math.round(meanBytes))} bytes) to be combined across nodes`,
    )
  const record = ['rankweave', 'record', '-o', 'graph.txt', '--', ...command].map(shellWord).join(' ')
  const how =
    nodes === 1
      ? 'neighborhood collectives in their place could share memory (docs/speed-up-your-mpi-program.md#rewrite-a-halo-exchange)'
      : `${record}, and the study that it names, simulate whether neighborhood collectives in their place would pay`
  return row('rewriting', `${take}: ${how}`)
}

interface NextFacts {
  readonly minutes: number
  /** Whether the run was too short for a verdict. */
  readonly isShort: boolean
  readonly nodes: number
  readonly loadBefore: number
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
  readonly minutes: number
  /** The load average before the first run. */
  readonly loadBefore: number
  /** The folder for files that the changes need. */
  readonly folder: string
}

async function conclude(
  report: Reporter,
  command: readonly string[],
  program: TriedProgram,
  { advice, compare, folder, loadBefore, minutes, output }: Conclusion,
): Promise<void> {
  const { profile } = program
  await program.writeFiles(advice.advised, folder)
  const use =
    advice.advised.length === 0
      ? []
      : program.lines(advice.advised, folder).map((line) => report.ownWords(line))
  const summary = summaryOf(profile)
  const { ranks, seconds } = summary
  const { mpi, nodes } = profile
  const isShort = seconds < shortRun && advice.advised.length === 0
  const verdict = isShort
    ? `A run of ${secondsText(seconds)} is too short for a verdict: give it ${shortRun} s or more.`
    : advice.verdict
  const rows: readonly ResultRow[] = [
    held({ command, profile: summary, tried: advice.tried, untried: advice.untried }),
    shown(
      'program',
      `${counted(ranks, 'rank', 'ranks')} on ${counted(nodes.length, 'node', 'nodes')}, ${mpi}`,
    ),
    shown('time', `${secondsText(seconds)} in the profiled run; ${inMpiText(summary)}`),
    longestCallsRow(summary.calls),
    coresRow(ranks, nodes.length),
    noiseRow(advice.unchanged, loadBefore),
    ...advice.tried.map(({ name, share, what, gain }) =>
      shown(name, `${gainText(gain)}; ${what}; it can save ${touchedText(share)}`),
    ),
    ...advice.untried.map(({ name, ...change }) => shown(name, untriedText(change))),
    shown('results', compare === undefined ? null : comparedText(program.count, compare)),
    togetherRow(advice),
    rewritingRow(advice, summary, { command, nodes: nodes.length }),
    row('next', nextText(advice, { minutes, isShort, nodes: nodes.length, loadBefore })),
    held({ advised: advice.advised, verdict, use, file: output ?? null }),
  ]
  if (output !== undefined) {
    const page = adviceDocument(
      { ...advice, verdict },
      {
        command: command.map(shellWord).join(' '),
        profile: summary,
        use,
        rows: rows.flatMap(({ line: [label, text] }) =>
          text === null ? [] : [[label, report.ownWords(text)] as const],
        ),
      },
    )
    await writeOutput(report, output, htmlOf(page))
    if (!isStandardOutput(output)) report.note(`wrote ${output}`)
  }
  const last = use.length === 0 ? verdict : `${verdict} Use: ${use.join(' && ')}`
  reportBeside(report, output, objectOf(rows), `${textOf(rows)}\n${last}`)
}
