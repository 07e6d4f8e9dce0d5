import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import * as z from 'zod'
import { RankweaveError } from '../../errors.js'
import { compileLibrary } from '../../shim/library.js'
import { compilerOfCommand, withVariables } from '../../shim/mpi-command.js'
import { graphLines, type RecordedGraph, recordedGraphs } from '../../shim/recorded-graphs.js'
import { fileError } from '../../text/whole-file.js'
import { parseOptions } from '../input/options.js'
import { checkOutputs, isStandardOutput, writeOutput } from '../output/output-file.js'
import { counted, type Reporter, table } from '../output/reporter.js'
import { WorldFailure } from '../program/world-failure.js'
import type { AddCommand } from './command.js'

const help = `
COMMAND starts an MPI program with mpirun or mpiexec of Open MPI or MPICH, or with srun. The program runs unmodified, with
the library of rankweave shim preloaded, which leaves all calls to MPI and records the graph of every communicator with a
topology. The graph with most calls of neighborhood collectives of any form is written to the output, others to files with a
number in their names (graph-2.txt). Files of these names are replaced. Nothing is written if the program fails.

The library is compiled with the mpicc that belongs to the launcher, in a temporary folder; with srun --mpicc names it where
there are several. Where processes run on other machines, compile it with rankweave shim in a folder that all have, and pass
it with --library; the output must be in one, too.

Examples:
  rankweave record -o graph.txt -- mpirun -n 64 ./program
  rankweave study edges:graph.txt --machine cluster:nodes=4,cores=16,profile=simgrid-fast -o study
  rankweave plan edges:graph.txt --strategy auto --machine cluster:nodes=4,cores=16,profile=simgrid-fast --bytes 4 -o plan.jsonl
  rankweave shim -o shim --plan plan.jsonl`

const schema = z.object({
  output: z
    .string()
    .min(1)
    .refine((file) => !isStandardOutput(file), 'expected a file, got -: a program may have several graphs'),
  mpicc: z.string().min(1).optional(),
  library: z.string().min(1).optional(),
})

/** `rankweave record`: the graphs and calls of an unmodified MPI program. */
export const recordCommand: AddCommand = (command, act) => {
  command
    .argument('<command...>', 'what starts the program, after --')
    .option('-o, --output <file>', 'the graph with most calls, for rankweave plan edges:FILE', 'graph.txt')
    .option('--mpicc <command>', "the compiler of the program's MPI (default: that of the launcher)")
    .option('--library <file>', 'a library that rankweave shim has compiled')
    .option('--json', "one JSON object on standard output; the program's output on standard error", false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, command: readonly string[], raw: unknown) => {
        const { library, mpicc, output } = parseOptions(schema, raw)
        await checkOutputs(report, output)
        if (library !== undefined) requireReadable(library)
        const folder = temporaryFolder(output)
        try {
          const record = join(folder, 'graph')
          const words = withVariables(command, {
            LD_PRELOAD: preloaded(
              library === undefined ? join(folder, 'librankweave_shim.so') : resolve(library),
            ),
            RANKWEAVE_SHIM: `record:${record}`,
          })
          if (library === undefined) {
            const compiler = mpicc ?? compilerOfCommand(command)
            report.step(`compiling with ${compiler}`)
            compileLibrary(folder, compiler)
          }
          await runToEnd(words, report.json)
          const graphs = graphsIn(folder)
          const files = graphs.map((_, i) => (i === 0 ? output : numbered(output, i + 1)))
          for (const [i, graph] of graphs.entries()) await writeOutput(report, files[i], piecesOf(graph))
          finish(report, graphs, files)
        } finally {
          rmSync(folder, { recursive: true, force: true })
        }
      }),
    )
}

/** Next to the output, which the processes can write as well. A comma ends a setting of the library. */
function temporaryFolder(output: string): string {
  const folder = dirname(resolve(output))
  if (folder.includes(',')) {
    const message = `expected an output in a folder without commas in its path, got ${folder}`
    throw new RankweaveError('ERR_SHIM', message)
  }
  try {
    return mkdtempSync(join(folder, '.rankweave-record-'))
  } catch (cause) {
    throw new RankweaveError('ERR_SHIM', `cannot write to ${folder}: ${(cause as Error).message}`, { cause })
  }
}

/** The loader would only warn, and the program would run to its end without the library. */
function requireReadable(library: string): void {
  try {
    accessSync(library, constants.R_OK)
  } catch (cause) {
    throw fileError('read', library, cause)
  }
}

/** What the environment preloads already stays. */
function preloaded(library: string): string {
  if (/[\s:]/.test(library))
    throw new RankweaveError(
      'ERR_SHIM',
      `expected a library without spaces and colons in its path, at which LD_PRELOAD is divided, got ${library}; ` +
        'it is compiled next to the output unless --library names one',
    )
  const others = process.env['LD_PRELOAD'] ?? ''
  return others === '' ? library : `${library}:${others}`
}

/** The exit code with which the library ends a process of another MPI (`own-mpi.c`). */
const anotherMpi = 78

const forwarded = ['SIGTERM', 'SIGHUP'] as const

const leaveToLauncher = () => {}

/**
 * A signal to end is the launcher's, which ends the processes. Ctrl-C reaches the launcher from the terminal;
 * forwarded besides it would be its second, upon which launchers leave processes behind.
 */
async function runToEnd([launcher, ...words]: readonly string[], isJson: boolean): Promise<void> {
  let child: ChildProcess | undefined
  // Signals are heard before there is a launcher, and handled after.
  const forward = (signal: NodeJS.Signals) => child?.kill(signal)
  process.on('SIGINT', leaveToLauncher)
  for (const signal of forwarded) process.on(signal, forward)
  try {
    const started = spawn(launcher, words, { stdio: ['inherit', isJson ? 2 : 'inherit', 'inherit'] })
    child = started
    const [code, signal] = await new Promise<readonly [number | null, NodeJS.Signals | null]>(
      (done, failed) => {
        started.on('error', failed)
        started.on('close', (...ended) => done(ended))
      },
    )
    if (code === 0) return
    const how = code === null ? `signal ${signal}` : `exit code ${code}`
    const advice = code === anotherMpi ? '; start the program with the launcher of the MPI that it uses' : ''
    const cause = new RankweaveError(
      'ERR_SHIM',
      `${launcher} ended with ${how}, so nothing is recorded${advice}`,
    )
    throw new WorldFailure(cause.message, { cause })
  } finally {
    process.off('SIGINT', leaveToLauncher)
    for (const signal of forwarded) process.off(signal, forward)
  }
}

function graphsIn(folder: string): readonly RecordedGraph[] {
  const files = readdirSync(folder).filter((name) => /^graph(\.\d+\.\d+)?$/.test(name))
  const inOrder = files.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const graphs = recordedGraphs(
    inOrder.map((name) => join(folder, name)),
    (file) => readFileSync(file, 'utf8'),
  )
  if (graphs.length > 0) return graphs
  throw new RankweaveError(
    'ERR_SHIM',
    'expected a program that creates communicators with a topology, got none: it creates no such communicator, or it is compiled ' +
      'with another MPI than the library (--mpicc)',
  )
}

function* piecesOf({ comments, file }: RecordedGraph): Generator<string> {
  for (const line of comments) yield `${line}\n`
  yield graphLines(readFileSync(file, 'utf8'))
}

/** `graph.txt` as `graph-2.txt`. */
function numbered(file: string, number: number): string {
  const ending = extname(file)
  return `${file.slice(0, file.length - ending.length)}-${number}${ending}`
}

function finish(report: Reporter, graphs: readonly RecordedGraph[], files: readonly string[]): void {
  const written = graphs.map(({ functions, communicators, edges, ranks }, i) => ({
    ...{ file: files[i], ranks, edges, communicators, functions },
  }))
  const rows = written.map(({ file, ranks, edges, communicators, functions }): [string, string] => [
    file,
    [
      counted(ranks, 'rank', 'ranks'),
      counted(edges, 'edge', 'edges'),
      counted(communicators, 'communicator', 'communicators'),
      ...Object.entries(functions).map(
        ([name, { calls, blocks }]) => `${callsText(calls)} of ${name}${blocksText(blocks)}`,
      ),
    ].join(', '),
  ])
  report.result(
    { graphs: written },
    table([...rows, ['next', `rankweave study edges:${files[0]} --machine MACHINE -o study`]]),
  )
}

const callsText = (calls: number): string => counted(calls, 'call', 'calls')

function blocksText(blocks: readonly [number, number] | null): string {
  if (blocks === null) return ''
  const [shortest, longest] = blocks
  return shortest === longest
    ? ` with blocks of ${longest} bytes`
    : ` with blocks of ${shortest} to ${longest} bytes`
}
