import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import * as z from 'zod'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import {
  compileProfiler,
  nodesText,
  type Profile,
  profilerName,
  readProfile,
  trafficLines,
  trafficOf,
} from '../../profile/profile.js'
import { compileLibrary } from '../../shim/library.js'
import { compilerOfCommand } from '../../shim/mpi-command.js'
import {
  averagesText,
  graphLines,
  type RecordedGraph,
  recordedExchange,
  recordedGraphs,
  trafficLine,
} from '../../shim/recorded-graphs.js'
import {
  type CallRecords,
  type MatchingSummary,
  type RecordedMatching,
  readCallRecords,
  recordedMatching,
  summarizedTrace,
} from '../../shim/recorded-matching.js'
import { shellWord } from '../../text/printable.js'
import { fileError, makeDirectory, readRegularFile, writeWholeFile } from '../../text/whole-file.js'
import { addOptions, flag, option, readOptions, whole } from '../input/options.js'
import { checkOutputs, isStandardOutput, writeOutput } from '../output/output-file.js'
import { reportGraphs, type WrittenGraph } from '../output/recorded-graphs-report.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted, figure, held, row, shown } from '../output/result-rows.js'
import { requireReadable, runPreloaded, temporaryRecordFolder } from '../program/preloaded-run.js'

const help = `
COMMAND starts an MPI program with mpirun or mpiexec of Open MPI or MPICH, or with srun. The program runs unmodified, with
two libraries preloaded, which leave all calls to MPI. Of a program that calls neighborhood collectives, the graph with most
calls is written to the output, other graphs to files with a number in their names (graph-2.txt). Of any other program the
output has who sends to whom, by messages of every form and by blocks of MPI_Alltoallv and MPI_Alltoallw: the weight of an
edge is its bytes, its messages are in a comment; topologies that it made but did not use follow in numbered files. Files of these names are replaced. Nothing is written if the program fails.

The libraries are compiled with the mpicc that belongs to the launcher, in a temporary folder; with srun --mpicc names it
where there are several. Where processes run on other machines, compile them with rankweave shim in a folder that all have,
and pass the first with --library; the output must be in one, too.

With --matching each process records its sends, receives and probes, and the output is a folder with a trace per rank
(rank-0.jsonl), for rankweave match. The traces name no collectives, whose messages PMPI does not show. Files of such names
in it are replaced. Without COMMAND traces are made of what processes have recorded in the folder before, for instance with
another launcher and RANKWEAVE_SHIM=matching:FOLDER.

Examples:
  rankweave record --matching -o matching -- mpirun -n 4 ./program
  rankweave record -o graph.txt -- mpirun -n 64 ./program
  rankweave study edges:graph.txt --machine cluster:nodes=4,cores=16,profile=simgrid-fast -o study
  rankweave plan edges:graph.txt --strategy auto --machine cluster:nodes=4,cores=16,profile=simgrid-fast --bytes 4 -o plan.jsonl
  rankweave shim -o shim --plan plan.jsonl`

const optionTable = {
  output: option(
    '-o, --output <file>',
    'the graph with most calls (default: graph.txt), or the folder of --matching (matching)',
    z
      .string()
      .min(1)
      .refine((file) => !isStandardOutput(file), 'expected a file, got -: a program may have several graphs'),
  ),
  matching: flag('--matching', 'record how messages are matched, for rankweave match FOLDER'),
  operations: option(
    '--operations <n>',
    'of --matching: operations that a process records at most (default: 1000000)',
    whole(1, 1e9),
  ),
  mpicc: option(
    '--mpicc <command>',
    "the compiler of the program's MPI (default: that of the launcher)",
    z.string().min(1),
  ),
  library: option(
    '--library <file>',
    'a library that rankweave shim has compiled, with the profiler in the same folder',
    z.string().min(1),
  ),
  json: flag('--json', "one JSON object on standard output; the program's output on standard error"),
}

export const recordCommand: AddCommand = (command, act) => {
  addOptions(command.argument('[command...]', 'what starts the program, after --'), optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, command: readonly string[], raw: unknown) => {
        const { library, matching, mpicc, operations, output } = readOptions(optionTable, raw)
        if (library !== undefined) requireReadable(library)
        if (matching) {
          const folder = output ?? 'matching'
          return await recordMatching(report, { ...{ command, folder, library, mpicc, operations } })
        }
        if (operations !== undefined)
          throw new RankweaveError('ERR_USAGE', '--operations: expected --matching as well')
        if (command.length === 0)
          throw new RankweaveError('ERR_USAGE', 'expected a command that starts the program, after --')
        await recordGraphs(report, command, { library, mpicc, output: output ?? 'graph.txt' })
      }),
    )
}

interface GraphRecording {
  readonly library: string | undefined
  readonly mpicc: string | undefined
  readonly output: string
}

async function recordGraphs(
  report: Reporter,
  command: readonly string[],
  { library, mpicc, output }: GraphRecording,
): Promise<void> {
  await checkOutputs(report, output)
  const folder = temporaryRecordFolder(dirname(resolve(output)))
  try {
    const profileFile = join(folder, 'profile')
    const { libraries, ...shim } = shimIn(report, command, { library, mpicc, folder, isProfiled: true })
    const profiler = join(dirname(libraries[0]), profilerName)
    const isProfiled = library === undefined || existsSync(profiler)
    await runPreloaded(command, {
      ...shim,
      libraries: isProfiled ? [profiler, ...libraries] : libraries,
      variables: {
        RANKWEAVE_SHIM: `record:${join(folder, 'graph')}`,
        ...(isProfiled ? { RANKWEAVE_PROFILE: `profile:${profileFile}` } : {}),
      },
      ifItFails: () => 'so nothing is recorded',
    })
    const profile = existsSync(profileFile)
      ? readProfile(readRegularFile(profileFile, longestProfile).toString(), profileFile)
      : null
    const graphs = graphsOf(graphsIn(folder), profile)
    const files = graphs.map((_, i) => (i === 0 ? output : numbered(output, i + 1)))
    if (graphs.length === 0 && existsSync(output)) report.note(`${output} is of an earlier run`)
    for (const [i, graph] of graphs.entries()) {
      if (existsSync(files[i])) report.note(`replaces ${files[i]}`)
      await writeOutput(report, files[i], graph.lines())
    }
    reportGraphs(report, { command, output, isProfiled, profile, graphs, files })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const longestProfile = 2 ** 29

function graphsIn(folder: string): readonly RecordedGraph[] {
  const files = readdirSync(folder).filter((name) => /^graph(\.\d+\.\d+)?$/.test(name))
  const inOrder = files.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return recordedGraphs(
    inOrder.map((name) => join(folder, name)),
    (file) => readFileSync(file, 'utf8'),
  )
}

/**
 * Returns the graphs in the order of their files. Neighborhood collectives come first; of a program without, the
 * traffic does, and graphs of communicators follow that it calls only point to point.
 */
function graphsOf(recorded: readonly RecordedGraph[], profile: Profile | null): readonly WrittenGraph[] {
  const topologies = recorded.map((graph) => ofCommunicator(graph))
  const isCalled = recorded.some(({ functions }) => Object.keys(functions).length > 0)
  const traffic = profile === null || isCalled ? null : trafficOf(profile)
  if (profile === null || traffic === null || traffic.edges.length === 0) return topologies
  const sum = (value: 'messages' | 'bytes') => traffic.edges.reduce((all, edge) => all + edge[value], 0)
  const [messages, bytes, nodes] = [sum('messages'), sum('bytes'), nodesText(profile)]
  const head = [trafficLine, averagesText(traffic.edges), `# nodes of the ranks: ${nodes}`, ''].join('\n')
  return [
    {
      facts: { ...{ ranks: traffic.ranks, edges: traffic.edges.length, nodes, messages, bytes } },
      words: [counted(messages, 'message', 'messages'), counted(bytes, 'byte', 'bytes')],
      isTraffic: true,
      exchange: recordedExchange(head),
      *lines() {
        yield head
        yield* trafficLines(traffic)
      },
    },
    ...topologies,
  ]
}

function ofCommunicator({ comments, file, ...graph }: RecordedGraph): WrittenGraph {
  const { communicators, functions } = graph
  return {
    facts: graph,
    words: [
      counted(communicators, 'communicator', 'communicators'),
      ...(Object.keys(functions).length === 0 ? ['a topology that no neighborhood collective used'] : []),
      ...Object.entries(functions).map(
        ([name, { calls, blocks }]) => `${callsText(calls)} of ${name}${blocksText(blocks)}`,
      ),
    ],
    isTraffic: false,
    exchange: recordedExchange(comments.map((line) => `${line}\n`).join('')),
    *lines() {
      for (const line of comments) yield `${line}\n`
      yield graphLines(readFileSync(file, 'utf8'))
    },
  }
}

/** Returns a numbered name: `graph-2.txt` from `graph.txt`. */
function numbered(file: string, number: number): string {
  const ending = extname(file)
  return `${file.slice(0, file.length - ending.length)}-${number}${ending}`
}

const callsText = (calls: number): string => counted(calls, 'call', 'calls')

function blocksText(blocks: readonly [number, number] | null): string {
  if (blocks === null) return ''
  const [shortest, longest] = blocks
  return shortest === longest
    ? ` with blocks of ${longest} bytes`
    : ` with blocks of ${shortest} to ${longest} bytes`
}

const callsName = /^calls-\d+\.bin$/
const traceName = /^rank-\d+\.jsonl$/

interface MatchingRecording {
  /** The command that starts the program; empty if it has run before. */
  readonly command: readonly string[]
  /** The folder for traces and records. */
  readonly folder: string
  readonly library: string | undefined
  readonly mpicc: string | undefined
  /** The most operations that a process records. */
  readonly operations: number | undefined
}

/**
 * Runs an MPI program whose processes record how messages are matched, and makes a trace of each process.
 *
 * @throws ERR_SHIM if the program fails, or has recorded nothing
 */
async function recordMatching(report: Reporter, recording: MatchingRecording): Promise<void> {
  const folder = resolve(recording.folder)
  if (recording.command.length > 0) await runRecording(report, folder, recording)
  const mostBytes = longestCalls(recording.operations)
  const ranks = ranksIn(folder, mostBytes)
  const matching = recordedMatching(ranks, (rank) => callsOf(folder, rank, mostBytes))
  const summaries: TraceOfRank[] = []
  for (let rank = 0; rank < ranks; rank++) {
    report.progress(() => `traces: rank ${rank} of ${ranks}`)
    const made = await makeTrace(folder, matching, rank)
    const sampled = await samplesOf(folder, matching, rank)
    summaries.push({ rank, ...made, sampled })
  }
  if (recording.command.length > 0) removeFiles(folder, callsName)
  reportMatching(report, recording.folder, matching, summaries)
}

/** @throws ERR_FILE naming the records, if no program makes such operations */
async function makeTrace(
  folder: string,
  matching: RecordedMatching,
  rank: number,
): Promise<Pick<TraceOfRank, 'isEnded' | 'summary'>> {
  try {
    const recorded = matching.process(rank)
    const { lines, summary } = summarizedTrace(recorded, matching.isBounded)
    await writeWholeFile(join(folder, `rank-${rank}.jsonl`), lines)
    return { isEnded: recorded.isEnded, summary: summary() }
  } catch (cause) {
    if (isRankweaveError(cause, 'ERR_FILE')) throw cause
    throw fileError('read', join(folder, `calls-${rank}.bin`), cause)
  }
}

async function runRecording(
  report: Reporter,
  folder: string,
  { command, library, mpicc, operations, folder: name }: MatchingRecording,
): Promise<void> {
  try {
    makeDirectory(folder)
  } catch (cause) {
    throw fileError('write', folder, cause)
  }
  const temporary = temporaryRecordFolder(folder)
  try {
    removeFiles(folder, /^(calls-\d+\.bin|rank-\d+\.jsonl|queues-\d+\.json)$/)
    const most = operations === undefined ? {} : { RANKWEAVE_SHIM_MATCHING_OPERATIONS: String(operations) }
    await runPreloaded(command, {
      ...shimIn(report, command, { library, mpicc, folder: temporary, isProfiled: false }),
      variables: { RANKWEAVE_SHIM: `matching:${folder}`, ...most },
      ifItFails: () => {
        if (!readFolder(folder).some((file) => callsName.test(file))) return 'so nothing is recorded'
        const bound = operations === undefined ? '' : ` --operations ${operations}`
        return `so no traces are made; rankweave record --matching -o ${shellWord(name)}${bound} makes them of what is recorded`
      },
    })
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

function removeFiles(folder: string, names: RegExp): void {
  for (const name of readFolder(folder)) {
    const file = join(folder, name)
    try {
      if (names.test(name)) rmSync(file)
    } catch (cause) {
      throw fileError('replace', file, cause)
    }
  }
}

/** Returns the most bytes of `calls-N.bin`: operations, their completions, communicators, ends, reserved space. */
function longestCalls(operations = 1_000_000): number {
  return 32 * (2 * operations + 65_536 + 4) + 2 ** 20
}

function callsOf(folder: string, rank: number, mostBytes: number): CallRecords {
  const file = join(folder, `calls-${rank}.bin`)
  const hint = '; --operations permits more'
  return readCallRecords(file, readRegularFile(file, mostBytes, hint))
}

/** Returns the number of processes that have recorded. */
function ranksIn(folder: string, mostBytes: number): number {
  const names = readFolder(folder)
  const files = names.filter((name) => callsName.test(name))
  if (files.length === 0 && names.some((name) => traceName.test(name)))
    throw new RankweaveError(
      'ERR_SHIM',
      `expected records of an MPI program in ${folder}, got none: its traces are made, for rankweave match ${shellWord(folder)}`,
    )
  if (files.length === 0)
    throw new RankweaveError(
      'ERR_SHIM',
      `expected records of an MPI program in ${folder}, got none: it does not call MPI_Init, or it is compiled with another ` +
        'MPI than the library (--mpicc)',
    )
  const recorded = new Set(files.map((name) => Number(/\d+/.exec(name)?.[0])))
  const { ranks } = callsOf(
    folder,
    [...recorded].reduce((a, b) => Math.min(a, b)),
    mostBytes,
  )
  for (let rank = 0; rank < ranks; rank++) {
    if (recorded.has(rank)) continue
    const file = join(folder, `calls-${rank}.bin`)
    throw fileError('read', file, `expected records of each of ${ranks} ranks, got none`)
  }
  return ranks
}

function readFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (cause) {
    throw fileError('read', folder, cause)
  }
}

interface Sampled {
  readonly samples: number
  /** The longest of MPI's own queues on a communicator. */
  readonly unexpected: number
  readonly posted: number
}

interface TraceOfRank {
  readonly rank: number
  readonly isEnded: boolean
  readonly summary: MatchingSummary
  /** The samples; null if MPI offers no lengths, or nothing was sampled. */
  readonly sampled: Sampled | null
}

/** The most bytes of `queues-N.json`: 10,000 samples, and a context of each communicator. */
const longestQueues = 2 ** 22

const queuesSchema = z.looseObject({
  offered: z.boolean(),
  samples: z.array(z.tuple([z.number(), z.number(), z.number(), z.number()])),
})

function queuesIn(file: string): z.infer<typeof queuesSchema> {
  const bytes = readRegularFile(file, longestQueues)
  try {
    return queuesSchema.parse(JSON.parse(bytes.toString()))
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? 'expected samples of queues' : cause
    throw fileError('read', file, reason)
  }
}

/** Adds the contexts that communicators have in traces to the samples of a process. */
async function samplesOf(folder: string, matching: RecordedMatching, rank: number): Promise<Sampled | null> {
  const file = join(folder, `queues-${rank}.json`)
  if (!readFolder(folder).includes(`queues-${rank}.json`)) return null
  const read = queuesIn(file)
  const { samples } = read
  await writeWholeFile(file, [JSON.stringify({ ...read, contexts: matching.contextsOf(rank) }), '\n'])
  if (!read.offered || samples.length === 0) return null
  const longest = (column: number) => samples.reduce((most, sample) => Math.max(most, sample[column]), 0)
  return { samples: samples.length, unexpected: longest(2), posted: longest(3) }
}

function reportMatching(
  report: Reporter,
  folder: string,
  { processes, isBounded, lostMessages, leftOut }: RecordedMatching,
  traces: readonly TraceOfRank[],
): void {
  const sum = (of: (summary: MatchingSummary) => number) =>
    traces.reduce((total, { summary }) => total + of(summary), 0)
  const longest = (of: (summary: MatchingSummary) => number) => {
    const { rank, summary } = traces.reduce((a, b) => (of(b.summary) > of(a.summary) ? b : a))
    return { rank, length: of(summary) }
  }
  const [posted, unexpected] = [longest((s) => s.posted.longest), longest((s) => s.unexpected.longest)]
  const sampled = traces.flatMap(({ sampled }) => (sampled === null ? [] : [sampled]))
  const most = (of: (sampled: Sampled) => number) =>
    sampled.reduce((length, one) => Math.max(length, of(one)), 0)
  const notEnded = traces.filter(({ isEnded }) => !isEnded).map(({ rank }) => rank)
  const atRank = ({ rank, length }: { rank: number; length: number }) => `${figure(length)} at rank ${rank}`
  const [operations, receives] = [sum((s) => s.operations), sum((s) => s.receives)]
  const [arrivals, otherMatches] = [sum((s) => s.arrivals), sum((s) => s.otherMatches)]
  const counts = `${counted(processes, 'rank', 'ranks')}, ${counted(operations, 'operation', 'operations')}`
  const own =
    sampled.length === 0 ? null : { posted: most((s) => s.posted), unexpected: most((s) => s.unexpected) }
  const ended = `${counted(notEnded.length, 'rank', 'ranks')} without MPI_Finalize: ${notEnded.slice(0, 8).join(', ')}`
  report.rows([
    held({ folder, ranks: processes, operations }),
    shown('traces', `${folder}: ${counts}`),
    row('receives', receives),
    row('inferredArrivals', arrivals, 'messages', `${figure(arrivals)}, arrivals inferred from their sends`),
    row(
      'otherMatches',
      otherMatches,
      'other matches',
      otherMatches === 0 ? null : `${figure(otherMatches)} receives get another message than in the program`,
    ),
    held({ longest: { posted, unexpected } }),
    shown('longest posted', atRank(posted)),
    shown('longest unexpected', atRank(unexpected)),
    row(
      'sampled',
      own,
      'sampled',
      own === null
        ? null
        : `MPI's own queues: posted ${figure(own.posted)}, unexpected ${figure(own.unexpected)} at most`,
    ),
    row(
      'isBounded',
      isBounded,
      'bound',
      isBounded
        ? 'reached: traces end when the first process had recorded as many operations (--operations)'
        : null,
    ),
    row('notEnded', notEnded, 'not ended', notEnded.length === 0 ? null : ended),
    row(
      'leftOut',
      leftOut,
      'left out',
      leftOut === 0 ? null : `${figure(leftOut)} operations on intercommunicators or too many communicators`,
    ),
    row(
      'lostMessages',
      lostMessages,
      'lost',
      lostMessages === 0
        ? null
        : `${figure(lostMessages)} messages to processes that never used the communicator`,
    ),
    shown('next', `rankweave match ${shellWord(folder)}`),
  ])
}

/** The library that is preloaded: a compiled one, or one that is compiled in a folder. */
interface UsedShim {
  readonly library: string | undefined
  readonly mpicc: string | undefined
  readonly folder: string
  /** Whether the profiler is compiled as well. */
  readonly isProfiled: boolean
}

function shimIn(
  report: Reporter,
  command: readonly string[],
  { library, mpicc, folder, isProfiled }: UsedShim,
) {
  const output = report.json ? ('stderr' as const) : ('inherit' as const)
  if (library !== undefined) return { libraries: [resolve(library)], output }
  const prepare = () => {
    const compiler = mpicc ?? compilerOfCommand(command)
    report.step(`compiling with ${compiler}`)
    compileLibrary(folder, compiler)
    if (isProfiled) compileProfiler(folder, compiler)
  }
  return { libraries: [join(folder, 'librankweave_shim.so')], output, prepare }
}
